// Local training: replicas of an island synchronise in every step; islands synchronise once in many
// steps, by exchanging what each has learnt since (local SGD: Stich 2019, arXiv 1805.09767; DiLoCo:
// Douillard et al. 2023, arXiv 2311.08105). Levels nest: islands of a region, then regions, ...
// Layout::sync_groups gives the number of groups at each level.
#pragma once

#include <string>
#include <vector>

#include "models/base/origin.hpp"
#include "models/compression/compressor.hpp"

namespace windtunnel {

// What is done with the sum of the islands' deltas. average: the mean is added to the weights
// (local SGD); nesterov: an outer optimizer with momentum treats the mean as a gradient (DiLoCo).
enum class OuterOptimizer { average, nesterov };

// The pattern of an exchange. leader: one island's weights go to all others (LSGD: Teng et al.
// 2019, arXiv 1905.10395). gossip: each island's weights go to its neighbours in a graph, which
// take the mean (Lian et al. 2017, arXiv 1705.09056). none: islands never exchange (Decentralized
// Diffusion Models: McAllister et al. 2025, arXiv 2501.05450).
enum class SyncPattern { all_reduce, leader, gossip, none };

// Neighbours of an island. exponential: those at distance 1, 2, 4, ... (Ying et al. 2021, arXiv
// 2110.13363). random: neighbours drawn anew for each exchange.
enum class SyncGraph { ring, exponential, random };

// When an island exchanges. scheduled: all in the same step. poisson: each island at its own random
// times, in the background, so that no island waits for another (DADAO: Nabli and Oyallon 2022,
// arXiv 2208.00779).
enum class SyncEvents { scheduled, poisson };

// Which parameters are exchanged. dense: all except the experts of a mixture, which stay local to
// each island.
enum class SyncParameters { all, dense };

// When the exchange of a step begins. step: after its optimizer has run. layers: layer by layer, as
// the gradients of a step are reduced (communication.overlap); each layer starts when its last
// gradient is ready.
enum class SyncStart { step, layers };

struct SyncLevel {
  std::string over = {};  // what exchanges at this level, in the scenario's word: "site"
  // Steps between two exchanges of the same parameter. For a period that follows the learning rate
  // this is the mean over the run (models/plan/sync_rule.hpp).
  double every_steps = 1;
  // Parts of the model that are exchanged in turn: one part every every_steps / fragments steps
  // (Streaming DiLoCo: Douillard et al. 2025, arXiv 2501.18512).
  int fragments = 1;
  // Steps that run while an exchange is in flight; its result is applied after them. 0: all islands
  // wait for the exchange.
  double delay_steps = 0;
  SyncStart start = SyncStart::step;
  SyncPattern pattern = SyncPattern::all_reduce;
  SyncGraph graph = SyncGraph::ring;  // only for gossip
  // gossip: how many neighbours get an island's weights in one exchange, in rotation. 0: all of
  // them, but one in a random graph.
  int peers = 0;
  SyncEvents events = SyncEvents::scheduled;  // only for gossip
  SyncParameters parameters = SyncParameters::all;
  // Vectors of the optimizer's state that are averaged along with the weights (local Adam: two).
  int optimizer_states = 0;
  OuterOptimizer optimizer = OuterOptimizer::nesterov;
  double element_bytes = 4;          // of one element of a delta on the network, before compression
  CompressorChoice compressor = {};  // of the deltas
  int missing_islands = 0;  // an exchange does not wait for this many islands, the slowest ones
  bool chooses_missing = false;  // missing_islands is chosen so that progress per second is largest

  // Steps from one exchange to the next, counting those of all fragments.
  double cycle_steps() const { return every_steps / fragments; }
  // Number of steps that can hide an exchange: at most those until the next exchange begins. An
  // exchange at random times can take all of these.
  int hiding_steps() const {
    const bool until_next = events == SyncEvents::poisson || delay_steps > cycle_steps();
    return static_cast<int>(until_next ? cycle_steps() : delay_steps);
  }
};

// Whether each island waits for all others at each exchange, directly or through its neighbours.
inline bool waits_for_all(const SyncLevel& level) {
  return level.missing_islands == 0 && !level.chooses_missing &&
         level.pattern != SyncPattern::none && level.events == SyncEvents::scheduled;
}

// One exchange of one fragment at a level.
struct SyncSeconds {
  double exchange_s = 0;  // on the pipeline rank that takes longest, with nothing else running
  double exposed_s = 0;   // how much longer steps take because of it
  // Stragglers make islands drift apart. Mean time that an island waits for the members that an
  // exchange needs, and mean time that it saves because it is cut off when late, or because its
  // steps are shorter than those of the last island.
  double wait_s = 0;
  double saved_s = 0;
  int left_out = 0;  // islands that an exchange does not wait for
  double late = 0;   // share of islands that arrive too late, so that their period is lost
  Origin origin = Origin::assumed;  // the origin of these times
};

// How much an exchange that takes `exchange_s` alone lengthens steps of `step_s`. Nothing waits for
// an exchange at random times; but if exchanges come faster than links carry them, their queue
// delays each step by the mean excess, spread over the steps between two exchanges.
double exposed_seconds(const SyncLevel& level, double exchange_s, double step_s);

// Exchanges of several levels run one after the other, so a step cannot be shorter than its share
// of all of them. If `step_s` is shorter, the difference is added as waiting at the last level.
void fit_on_links(const std::vector<SyncLevel>& levels, std::vector<SyncSeconds>& seconds,
                  double step_s);

// Mean time that exchanges of a level add to a step.
inline double mean_exposed_s(const SyncLevel& level, const SyncSeconds& seconds) {
  return (seconds.exposed_s + seconds.wait_s) / level.cycle_steps();
}

// The share of all islands' steps that count. A late island repeats the period after its delay.
double trained_share(const SyncLevel& level, const SyncSeconds& seconds);

// Mean duration of a step when late islands are cut off and repeat the period: over all steps
// (`inner_s`), and per step that counts, with what the exchanges of each level add (`all_s`).
struct MeanStep {
  double inner_s = 0;
  double all_s = 0;
};
MeanStep mean_step(const std::vector<SyncLevel>& levels, const std::vector<SyncSeconds>& seconds,
                   double step_s);

// Bytes that a rank keeps for each parameter that it exchanges at a level: the weights of the last
// exchange and the outer optimizer's momentum, both in fp32. Gossip keeps the sum of the received
// weights. A leader's weights replace the rank's own, so nothing is kept.
double outer_state_bytes_per_parameter(const SyncLevel& level);

// Islands that get an island's weights in one exchange by gossip among `islands`.
int gossip_peers(const SyncLevel& level, int islands);
// Each island has this number of neighbours in a graph of `islands` islands.
int graph_degree(SyncGraph graph, int islands);

}  // namespace windtunnel

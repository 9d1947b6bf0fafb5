// Local training: replicas of an island synchronise in every step; islands synchronise once in many
// steps, by exchanging what each has learnt since (local SGD: Stich 2019, arXiv 1805.09767; DiLoCo:
// Douillard et al. 2023, arXiv 2311.08105). Levels stand above one another: islands of a region,
// then regions, ... Layout::sync_groups says how many there are of each.
#pragma once

#include <string>
#include <vector>

#include "models/base/origin.hpp"
#include "models/compression/compressor.hpp"

namespace windtunnel {

// What the sum of the islands' deltas becomes. average: the mean is added to the weights (local
// SGD); nesterov: an outer optimizer takes it for a gradient (DiLoCo), with a momentum.
enum class OuterOptimizer { average, nesterov };

// The pattern of an exchange. leader: one island's weights go to all others (LSGD: Teng et al.
// 2019, arXiv 1905.10395). gossip: each island's weights go to its neighbours in a graph, which
// take the mean (Lian et al. 2017, arXiv 1705.09056). none: islands never exchange (Decentralized
// Diffusion Models: McAllister et al. 2025, arXiv 2501.05450).
enum class SyncPattern { all_reduce, leader, gossip, none };

// Neighbours of an island. exponential: those at distance 1, 2, 4, ... (Ying et al. 2021, arXiv
// 2110.13363). random: others, drawn anew for each exchange.
enum class SyncGraph { ring, exponential, random };

// When an island exchanges. scheduled: all in the same step. poisson: each at random times of its
// own, in the background, so that no island waits for another (DADAO: Nabli and Oyallon 2022, arXiv
// 2208.00779).
enum class SyncEvents { scheduled, poisson };

// Which parameters are exchanged. dense: all but the experts of a mixture, which stay each island's
// own.
enum class SyncParameters { all, dense };

// When the exchange of a step begins. step: when its optimizer is through. layers: layer by layer,
// as gradients of a step are reduced (communication.overlap): a layer's goes as soon as its last
// gradient is there.
enum class SyncStart { step, layers };

struct SyncLevel {
  std::string over = {};  // the scenario's word for what exchanges: "site"
  // Between two exchanges of the same parameter; of a period that follows the learning rate the
  // mean over the run (models/plan/sync_rule.hpp).
  double every_steps = 1;
  // Parts of the model that are exchanged in turn, one every every_steps / fragments (Streaming
  // DiLoCo: Douillard et al. 2025, arXiv 2501.18512).
  int fragments = 1;
  // Steps that go on while an exchange is under way; its result is taken in behind them. 0: all
  // wait for it.
  double delay_steps = 0;
  SyncStart start = SyncStart::step;
  SyncPattern pattern = SyncPattern::all_reduce;
  SyncGraph graph = SyncGraph::ring;  // gossip
  // gossip: the neighbours that get an island's weights in one exchange, all in turn. 0: all of
  // them; in a random graph one.
  int peers = 0;
  SyncEvents events = SyncEvents::scheduled;  // gossip
  SyncParameters parameters = SyncParameters::all;
  // Vectors of the optimizer's state that are averaged along with the weights (local Adam: two).
  int optimizer_states = 0;
  OuterOptimizer optimizer = OuterOptimizer::nesterov;
  double element_bytes = 4;  // bytes of an element of a delta on the network, before compression
  CompressorChoice compressor = {};  // of the deltas
  int missing_islands = 0;  // an exchange does not wait for this many islands, the last to come
  bool chooses_missing = false;  // missing_islands is chosen for the most progress a second

  // Steps from one exchange to the next, of whichever fragment.
  double cycle_steps() const { return every_steps / fragments; }
  // Steps that hide an exchange: more are of no use, as the next one is to begin then. One at
  // random times has all the time until the next one.
  int hiding_steps() const {
    const bool until_next = events == SyncEvents::poisson || delay_steps > cycle_steps();
    return static_cast<int>(until_next ? cycle_steps() : delay_steps);
  }
};

// Whether each island waits for all others at each exchange, directly or by way of its neighbours.
inline bool waits_for_all(const SyncLevel& level) {
  return level.missing_islands == 0 && !level.chooses_missing &&
         level.pattern != SyncPattern::none && level.events == SyncEvents::scheduled;
}

// One exchange of one fragment at a level.
struct SyncSeconds {
  double exchange_s = 0;  // on the pipeline rank that takes longest, with nothing else running
  double exposed_s = 0;   // how much longer steps take for it
  // Stragglers make islands drift apart. Mean time that an island waits for the members that an
  // exchange needs, and mean time that it saves by being cut off when late, or by steps shorter
  // than those of the last island.
  double wait_s = 0;
  double saved_s = 0;
  int left_out = 0;                 // islands that an exchange need not wait for
  double late = 0;                  // share of them all that come too late: the period is in vain
  Origin origin = Origin::assumed;  // what they rest on
};

// The exposed time of an exchange that takes `exchange_s` by itself, beside steps of `step_s`. An
// exchange at random times is not waited for; but where exchanges come faster than links carry
// them, their queue delays each step by the mean excess over the steps between two exchanges.
double exposed_seconds(const SyncLevel& level, double exchange_s, double step_s);

// Exchanges of several levels go one after the other, so that no step of `step_s` is shorter than
// its share of them all: what it lacks is waited for at the last level.
void fit_on_links(const std::vector<SyncLevel>& levels, std::vector<SyncSeconds>& seconds,
                  double step_s);

// What exchanges of a level add to a step on average.
inline double mean_exposed_s(const SyncLevel& level, const SyncSeconds& seconds) {
  return (seconds.exposed_s + seconds.wait_s) / level.cycle_steps();
}

// The share of islands' steps that count. A late island repeats the period after its delay.
double trained_share(const SyncLevel& level, const SyncSeconds& seconds);

// Mean duration of a step when late islands are cut off and repeat the period: over all steps, and
// per step that counts, with what each level's exchanges add.
struct MeanStep {
  double inner_s = 0;
  double all_s = 0;
};
MeanStep mean_step(const std::vector<SyncLevel>& levels, const std::vector<SyncSeconds>& seconds,
                   double step_s);

// Bytes that a rank keeps for each parameter that it exchanges at a level: the weights of the last
// exchange and the outer optimizer's momentum, both in fp32. Gossip keeps the sum of what arrived;
// a leader's weights replace its own, so it keeps nothing.
double outer_state_bytes_per_parameter(const SyncLevel& level);

// Islands that get an island's weights in one exchange by gossip among `islands`.
int gossip_peers(const SyncLevel& level, int islands);
// Number of neighbours of an island in a graph of `islands` islands.
int graph_degree(SyncGraph graph, int islands);

}  // namespace windtunnel

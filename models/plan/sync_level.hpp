// Local training: replicas of an island synchronise in every step, islands only every so many
// steps, by what each has learnt since (local SGD: Stich 2019, arXiv 1805.09767; DiLoCo: Douillard
// et al. 2023, arXiv 2311.08105). Levels stand above one another: islands of a region, then
// regions, ... How many are of each: Layout::sync_groups.
#pragma once

#include <string>
#include <vector>

#include "models/base/origin.hpp"
#include "models/compression/compressor.hpp"

namespace windtunnel {

// What the sum of the islands' deltas becomes. average: the mean is added to the weights (local
// SGD); nesterov: an outer optimizer takes it for a gradient (DiLoCo), with a momentum.
enum class OuterOptimizer { average, nesterov };

// Who sends what to whom. leader: one island's weights go to all others (LSGD: Teng et al. 2019,
// arXiv 1905.10395).
enum class SyncPattern { all_reduce, leader };

// When the exchange of a step begins. step: when its optimizer is through. layers: layer by layer,
// as gradients of a step are reduced (communication.overlap): a layer's goes as soon as its last
// gradient is there.
enum class SyncStart { step, layers };

struct SyncLevel {
  std::string over = {};   // the scenario's word for what exchanges: "site"
  double every_steps = 1;  // between two exchanges of the same parameter
  // Parts of the model that are exchanged in turn, one every every_steps / fragments (Streaming
  // DiLoCo: Douillard et al. 2025, arXiv 2501.18512).
  int fragments = 1;
  // Steps that go on while an exchange is under way; its result is taken in behind them. 0: all
  // wait for it.
  double delay_steps = 0;
  SyncStart start = SyncStart::step;
  SyncPattern pattern = SyncPattern::all_reduce;
  OuterOptimizer optimizer = OuterOptimizer::nesterov;
  double element_bytes = 4;          // of a delta on the network, before it is compressed
  CompressorChoice compressor = {};  // of the deltas
  int missing_islands = 0;           // so many, the last to come, an exchange does not wait for
  bool chooses_missing = false;      // as many as make most progress a second

  // Steps from one exchange to the next, of whichever fragment.
  double cycle_steps() const { return every_steps / fragments; }
  // Steps that hide an exchange: more are of no use, as the next one is to begin then.
  int hiding_steps() const {
    const double steps = delay_steps < cycle_steps() ? delay_steps : cycle_steps();
    return static_cast<int>(steps);
  }
};

// One exchange of one fragment at a level.
struct SyncSeconds {
  double exchange_s = 0;  // of the pipeline rank that takes longest, beside nothing else
  double exposed_s = 0;   // that steps take longer for it
  // That an island waits for those that it waits for, on average: stragglers of every_steps drift
  // apart.
  double wait_s = 0;
  Origin origin = Origin::assumed;  // what they rest on
};

// What a step takes longer for the level on average.
inline double mean_exposed_s(const SyncLevel& level, const SyncSeconds& seconds) {
  return (seconds.exposed_s + seconds.wait_s) / level.cycle_steps();
}

// Mean over many steps that take `step_s` each, but for what each level's exchanges add.
double mean_step_s(const std::vector<SyncLevel>& levels, const std::vector<SyncSeconds>& seconds,
                   double step_s);

// Bytes that a rank keeps for each parameter that it exchanges at a level: the weights of the last
// exchange, and the outer optimizer's momentum, both in fp32; of a leader's, which replace its own,
// none.
double outer_state_bytes_per_parameter(const SyncLevel& level);

}  // namespace windtunnel

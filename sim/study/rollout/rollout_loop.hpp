// Engines and learner in a loop: samples are generated, the learner trains on them, and new weights
// go to the engines.
//   synchronous   period = generation + training + transfer
//   one-step-off  period = max(generation of the next batch, training of this one) + transfer
//   asynchronous  Engines never wait for the learner, but begin at most (version + staleness + 1)
//                 batches (AReaL, arXiv 2505.24298, section 5.1). The learner takes each complete
//                 batch, the oldest first. New weights stop all engines for the transfer, and keys
//                 and values are computed again unless they are kept.
#pragma once

#include <vector>

#include "models/cost/inference/engine_speed.hpp"
#include "models/results/rollout_report.hpp"
#include "models/workload/rollout.hpp"
#include "sim/study/rollout/engine_pool.hpp"

namespace windtunnel {

struct LoopInputs {
  RolloutSpec spec;
  std::vector<EngineGroup> engines;
  double token_s = 0;     // of the learner, per token of a batch: updates and passes
  double transfer_s = 0;  // time in which engines and learner wait
  double stop_s = 0;      // asynchronous: the part in which engines stop
  double switch_s = 0;    // colocated: time to move the training state
};

LoopTimes run_loop(const LoopInputs& inputs);

// Returns the tokens of an iteration's samples, which depend only on `spec` and its number.
std::vector<RolloutSample> draw_batch(const RolloutSpec& spec, int iteration);

// What is lost if engines fail at a rate and are then away for a time. A failure loses the tokens
// of unfinished sequences, which are generated again. If finished sequences have L tokens, an
// unfinished one has E[L^2] / 2 E[L] in the time average (renewal theory: the age).
struct EngineLosses {
  double lost_share = 0;  // tokens that are generated again, per token of a sample
  double away_share = 0;  // share of an engine's time
  // Returns the factor on the engines' time for a batch.
  double factor() const { return (1 + lost_share) / (1 - away_share); }
};
EngineLosses engine_losses(const LoopTimes& times, double rate_per_s, double away_s);

// Returns the period with these losses. They make engines slower, but not the learner.
double period_with(const LoopTimes& times, const LoopInputs& inputs, const EngineLosses& losses);

}  // namespace windtunnel

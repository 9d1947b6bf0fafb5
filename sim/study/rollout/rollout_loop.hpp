// Engines and learner in a loop: batches of samples are written, learned from, and the new weights
// go to the engines.
//   synchronous   period = generation + training + transfer
//   one-step-off  period = max(generation of the next batch, training of this one) + transfer
//   asynchronous  engines write on; of samples at most (version + staleness + 1) batches are begun
//                 (AReaL, arXiv 2505.24298, section 5.1), and every batch that is complete is
//                 learned from, the oldest first. New weights stop all engines for the transfer,
//                 and keys and values are computed again unless they are kept.
#pragma once

#include <vector>

#include "models/cost/inference/engine_speed.hpp"
#include "models/workload/rollout.hpp"
#include "sim/study/rollout/engine_pool.hpp"

namespace windtunnel {

struct LoopInputs {
  RolloutSpec spec;
  std::vector<EngineGroup> engines;
  double token_s = 0;     // of the learner, per token of a batch: updates and passes
  double transfer_s = 0;  // both wait for it
  double stop_s = 0;      // asynchronous: of it, what engines stop for
  double switch_s = 0;    // colocated
};

// Means over the iterations of the spec.
struct LoopTimes {
  double period_s = 0;
  double generation_s = 0;  // asynchronous: the engines' time for this many samples
  double training_s = 0;
  double actors_idle = 0;    // an engine neither writes nor gets weights
  double learner_idle = 0;   // it neither learns nor sends weights; colocated: as actors_idle
  double running = 0;        // sequences of an engine that has any
  double token_time_s = 0;   // of one sequence, from token to token
  double output_tokens = 0;  // of a sample
  double square_tokens = 0;  // the mean of the square of a sample's output tokens
  double staleness = 0;      // versions from a sample's first token to its update
  double returned = 0;       // sequences that memory sent back, per iteration
};

LoopTimes run_loop(const LoopInputs& inputs);

// Tokens of an iteration's samples: drawn by its number, whatever the mode.
std::vector<RolloutSample> draw_batch(const RolloutSpec& spec, int iteration);

// What engines lose where each fails at a rate and is away for a time. A failure loses the tokens
// of the sequences under way, which are written again. Where a finished sequence has L tokens, one
// under way has E[L^2] / 2 E[L] in the mean over time (renewal theory: the age).
struct EngineLosses {
  double lost_share = 0;  // tokens written again, per token of a sample
  double away_share = 0;  // of an engine's time
  // What the engines' time for a batch is multiplied by.
  double factor() const { return (1 + lost_share) / (1 - away_share); }
};
EngineLosses engine_losses(const LoopTimes& times, double rate_per_s, double away_s);

// The period with these losses: engines take longer, the learner does not.
double period_with(const LoopTimes& times, const LoopInputs& inputs, const EngineLosses& losses);

}  // namespace windtunnel

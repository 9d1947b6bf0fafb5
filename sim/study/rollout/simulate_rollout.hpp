// The loop of a scenario with `rollout`, from its learner's iteration.
#pragma once

#include "models/plan/job.hpp"
#include "models/results/iteration_report.hpp"
#include "models/results/rollout_report.hpp"
#include "sim/study/rollout/rollout_loop.hpp"

namespace windtunnel {

// What the learner takes for a batch: `step_s` of an iteration, of which `forward_share` is a
// forward pass.
struct LearnerPace {
  double step_s = 0;
  double forward_share = 1.0 / 3;
  // Of the fullest GPU, for colocated engines: weights and optimizer state, and with gradients.
  double saved_bytes = 0;
  double held_bytes = 0;
};
LearnerPace learner_pace(const IterationReport& iteration);

// Throws Error about the keys at fault.
LoopInputs loop_inputs(const Job& job, const RolloutSpec& spec, const LearnerPace& pace,
                       const RolloutMachine& machine, const WeightTransfer& transfer);

// `availability` of the learner: useful share of its campaign's time. Throws Error as
// loop_inputs().
RolloutReport simulate_rollout(const Job& job, const RolloutSpec& spec, const LearnerPace& pace,
                               double availability = 1);

}  // namespace windtunnel

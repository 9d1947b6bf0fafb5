// How a schedule's step changes when actions and messages take longer or shorter than planned.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "models/workload/software.hpp"
#include "policies/analysis/schedule_attribution.hpp"

namespace windtunnel {

struct SensitivityOptions {
  double jitter = 0.05;  // standard deviation of the logarithm of an action's duration
  int draws = 200;
  std::uint64_t seed = 1;
  // a slow rank's actions take 1 + this times as long
  double slowness = 0.1;
};

// Each action's duration is multiplied by a draw from a log-normal distribution of mean 1. The mean
// work remains the same, so the step grows only by waiting. Messages have no jitter.
struct JitterEffect {
  double mean_s = 0;  // growth of the step
  double p95_s = 0;
};

// How much the step grows if one rank is slow, for each rank in turn.
struct SlowRankEffect {
  std::vector<double> growth_s;  // [rank that is slow]
  int worst = 0;
};

// How the step changes if one part of the times becomes zero, and if it doubles.
struct WhatIf {
  std::string_view part;  // "forward", "backward_input", "backward_weight", "recompute", "message"
  double without_s = 0;   // change of the step if the part takes no time
  double doubled_s = 0;
};

// The step with one kind of send; empty if the order then deadlocks.
struct SendsEffect {
  Sends sends = Sends::asynchronous;
  std::optional<double> step_s;
};
std::string_view to_string(Sends sends);

struct ScheduleSensitivity {
  JitterEffect jitter;
  SlowRankEffect slow_rank;
  std::vector<WhatIf> what_ifs;  // for the parts that the schedule has
  std::vector<SendsEffect> sends;
  // The step if all ranks wait for the gradients' norm, and the step with post-validation instead.
  double step_with_norm_s = 0;
  double step_post_validated_s = 0;
};

ScheduleSensitivity schedule_sensitivity(const Schedule& schedule,
                                         const std::vector<StageCost>& costs,
                                         const Messages& messages, const OptimizerSync& sync,
                                         const SensitivityOptions& options = {});

}  // namespace windtunnel

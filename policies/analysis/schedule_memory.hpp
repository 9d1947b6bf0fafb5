// Activation memory of each rank over time while it runs a schedule, by the evaluator's rule,
// without a network or an allocator.
#pragma once

#include <vector>

#include "models/plan/schedule.hpp"
#include "policies/evaluation/schedule_evaluator.hpp"
#include "policies/evaluation/stage_cost.hpp"

namespace windtunnel {

struct ActivationPoint {
  double time_s = 0;
  double activation = 0;  // from this time on; in the unit of the costs
};

struct RankActivations {
  std::vector<ActivationPoint> points;  // in order of the rank's list; times may be equal
  double peak = 0;
  double peak_s = 0;
  int peak_position = -1;  // index of the action that first reaches the peak; -1: nothing is kept
};

// Returns [rank]. A forward or recomputation allocates when it starts; a backward frees at its end.
std::vector<RankActivations> schedule_activations(const Schedule& schedule,
                                                  const std::vector<StageCost>& costs,
                                                  const ScheduleSpans& spans);

}  // namespace windtunnel

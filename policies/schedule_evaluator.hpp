// List order to makespan and memory, without a network: each rank runs its actions in order, a
// message between different ranks is a pure delay. The form that searches use (10 million actions/s)
// and against which the engine is checked.
#pragma once

#include <vector>

#include "models/schedule.hpp"

namespace windtunnel {

// Per stage, seconds and units of activation memory (any unit).
struct StageCost {
  double forward_s = 0;
  double backward_input_s = 0;
  double backward_weight_s = 0;    // a full backward lasts the sum of both
  double activation = 0;           // +activation when F starts, -activation when B ends
  double weight_activation = 0;    // when backward is split: this part stays until W ends
};

struct ScheduleEvaluation {
  double makespan_s = 0;
  double longest_stage_s = 0;              // max over ranks of last end - first start
  std::vector<double> busy_s;              // [rank]
  std::vector<double> peak_activation;     // [rank]
  // The bubbles of the three definitions, see models/iteration_report.hpp.
  double bubble_makespan_s() const;        // makespan - max busy
  double bubble_longest_stage_rate() const;  // 1 - max busy / longest stage
};

// Throws Error naming rank and action when the order deadlocks.
ScheduleEvaluation evaluate_schedule(const Schedule& schedule, const std::vector<StageCost>& stages,
                                     double message_s);

}  // namespace windtunnel

// List order to makespan and memory, without a network: each rank runs its actions in order, a
// message between different ranks is a pure delay. The form that searches use (10 million
// actions/s) and against which the engine is checked.
#pragma once

#include <vector>

#include "models/schedule.hpp"

namespace windtunnel {

// Per stage, seconds and units of activation memory (any unit).
struct StageCost {
  double forward_s = 0;
  double backward_input_s = 0;
  double backward_weight_s = 0;  // a full backward lasts the sum of both
  double activation = 0;         // +activation when F starts, -activation when B ends
  double weight_activation = 0;  // when backward is split: this part stays until W ends
};

struct ScheduleEvaluation {
  double makespan_s = 0;
  double longest_stage_s = 0;           // max over ranks of last end - first start
  std::vector<double> busy_s;           // [rank]
  std::vector<double> peak_activation;  // [rank]

  double max_busy_s() const;
  // The bubbles of the three definitions, see models/iteration_report.hpp; 0 where there is no
  // work.
  double bubble_makespan_s() const;          // makespan - max busy
  double bubble_longest_stage_s() const;     // longest stage - max busy
  double bubble_longest_stage_rate() const;  // the same / longest stage
  double bubble_idle() const;                // mean over ranks of 1 - busy / makespan
};

// When one action ran.
struct ActionSpan {
  double start_s = 0;
  double end_s = 0;
};
using ScheduleSpans = std::vector<std::vector<ActionSpan>>;  // [rank][position in its list]

// `stages` has one entry per stage of a schedule that passes validate_schedule; `spans` is filled
// if given. Throws Error naming rank and action when the order deadlocks.
ScheduleEvaluation evaluate_schedule(const Schedule& schedule, const std::vector<StageCost>& stages,
                                     double message_s, ScheduleSpans* spans = nullptr);

}  // namespace windtunnel

// A schedule prepared for evaluation: times of a stage's actions on its rank, the ranks that use
// their results, and which actions are the first and last of an iteration.
#pragma once

#include <cstdint>
#include <vector>

#include "models/plan/schedule.hpp"
#include "policies/evaluation/stage_cost.hpp"

namespace windtunnel {

// Message times by sending stage: [stage of the schedule * slices + slice]. A list with a single
// number holds for all stages.
struct MessageTimes {
  std::vector<double> forward_s;   // to the next stage
  std::vector<double> backward_s;  // to the previous stage
  // The last part of each message time, in which the sender's next message can already leave.
  // Analyses that divide times (policies/analysis) count it as a message.
  double latency_s = 0;
};

// The evaluator's inner loop reads these values of a stage.
struct StageTimes {
  double forward_s;
  double backward_s;
  double backward_input_s;
  double backward_weight_s;
  double recompute_s;
  double activation;
  double weight_activation;
  double recomputed;
  double delay_to_previous_s;  // of a message; 0 if the other stage is on the same rank
  double delay_to_next_s;
  std::int32_t previous_rank;  // -1: the stage has no previous one
  std::int32_t next_rank;

  double of(ActionKind kind) const {
    switch (kind) {
      case ActionKind::forward:
        return forward_s;
      case ActionKind::backward:
        return backward_s;
      case ActionKind::backward_input:
        return backward_input_s;
      case ActionKind::backward_weight:
        return backward_weight_s;
      case ActionKind::recompute:
        return recompute_s;
      default:
        return 0;
    }
  }
};

// Returns [stage of the schedule * slices + slice]. `slowdown`: factor by rank; empty: 1.
std::vector<StageTimes> stage_times(const Schedule& schedule, const std::vector<StageCost>& costs,
                                    const MessageTimes& messages,
                                    const std::vector<double>& slowdown);

// Returns for each stage whether it has separate recompute actions.
std::vector<bool> recomputing_stages(const Schedule& schedule);

// Where a rank's iteration begins and ends, as positions of actions in its list; -1: none.
struct IterationMarks {
  // [stage] the first forward after the previous iteration has ended
  std::vector<int> first_forward;
  std::vector<int> last_backward;  // [stage] the action that completes the gradients
  // [rank] its last backward of the iteration, or the last reduce_grad or reshard right after it
  std::vector<int> end;
};

// Returns the marks of each iteration.
std::vector<IterationMarks> iteration_marks(const Schedule& schedule);

}  // namespace windtunnel

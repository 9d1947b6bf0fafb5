// A schedule prepared for evaluation: times of a stage's actions on its rank, destinations of their
// results, and which actions are special in an iteration.
#pragma once

#include <cstdint>
#include <vector>

#include "models/plan/schedule.hpp"
#include "policies/evaluation/stage_cost.hpp"

namespace windtunnel {

// Message times by sending stage: [stage of the schedule * slices + slice]; a single number holds
// for all.
struct MessageTimes {
  std::vector<double> forward_s;   // to the next stage
  std::vector<double> backward_s;  // to the previous stage
  // The part of each message time in which the sender's next message can already leave. Analyses
  // that split times (policies/analysis) count it as sending.
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
  double delay_to_previous_s;  // of a message between ranks, 0 within a rank
  double delay_to_next_s;
  std::int32_t previous_rank;  // -1 at the ends
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

// Returns [stage of the schedule * slices + slice]. `slowdown` is by rank; empty: none is slower.
std::vector<StageTimes> stage_times(const Schedule& schedule, const std::vector<StageCost>& costs,
                                    const MessageTimes& messages,
                                    const std::vector<double>& slowdown);

// [stage] Whether it has separate recompute actions.
std::vector<bool> recomputing_stages(const Schedule& schedule);

// Positions in the lists of ranks, -1: none.
struct IterationMarks {
  // [stage] the first forward after the previous iteration has ended
  std::vector<int> first_forward;
  std::vector<int> last_backward;  // [stage] the action that completes the gradients
  // [rank] its last backward of the iteration, or the last reduction or reshard right after that
  std::vector<int> end;
};

// [iteration].
std::vector<IterationMarks> iteration_marks(const Schedule& schedule);

}  // namespace windtunnel

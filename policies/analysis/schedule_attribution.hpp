// What each pipeline rank does with a step, and which chain of actions and messages sets its
// length.
//
// A step of a rank is a window of time, the same length for all ranks:
// - all ranks wait for the gradients' norm: from 0 to the makespan and the norm's all-reduce;
// - post-validation (Zero Bubble, arXiv 2401.10241, section 4): from the rank's first start for the
//   longest span from first start to last end of any rank: a rank goes on with the next step;
// - asynchronous: the period of the steady state (steady_window()), up to the rank's end of the
//   last iteration in it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "models/plan/schedule.hpp"
#include "policies/analysis/schedule_graph.hpp"

namespace windtunnel {

struct OptimizerSync {
  bool post_validation = false;
  double norm_s = 0;  // all-reduce of the gradients' norm; without effect under post-validation
                      // and in asynchronous schedules
};

struct StepWindow {
  double from_s = 0;
  double to_s = 0;
};

class StepClock {
 public:
  // Both must outlive it.
  StepClock(const Schedule& schedule, const ScheduleGraph& graph, const OptimizerSync& sync);

  double step_s(const GraphTimes& times) const;
  std::vector<StepWindow> windows(const GraphTimes& times) const;  // [rank]
  // The node whose end is the step's, before any all-reduce of the norm.
  std::int32_t last_node(const GraphTimes& times) const;
  double norm_s() const;

 private:
  // From the start of the first compute to the last end.
  double span_s(const GraphTimes& times, int rank) const;
  // The node of the iteration that ends last, on one rank or (-1) on any.
  std::int32_t last_of_iteration(const GraphTimes& times, int iteration, int rank = -1) const;

  const Schedule& schedule_;
  const ScheduleGraph& graph_;
  OptimizerSync sync_;
  std::vector<std::int32_t> first_;  // [rank] node of its first compute, -1: none
  // Asynchronous: [iteration][rank] the nodes of its backwards.
  std::vector<std::vector<std::vector<std::int32_t>>> backwards_;
};

// An overlapped pair's time is shared out in proportion to what its parts would take alone. A gap
// before an action is charged along the chain that the action waits for, back to where the gap
// began: the time of messages on it to `message`, the rest, which is other ranks' work, to
// `warm_up` before the rank's first action and to `stall` after it. A gap behind the rank's last
// action is `cool_down`.
enum class TimeUse {
  forward,
  backward_input,
  backward_weight,
  recompute,
  warm_up,
  message,
  stall,
  cool_down,
  optimizer_sync,  // the all-reduce of the norm
};
constexpr int kTimeUses = 9;
std::string_view to_string(TimeUse use);
using TimeUseSeconds = std::array<double, kTimeUses>;

// [rank]; each sums to the step.
std::vector<TimeUseSeconds> attribute_time(const Schedule& schedule,
                                           const std::vector<StageCost>& costs,
                                           const ScheduleGraph& graph, const GraphTimes& times,
                                           const StepClock& clock);

struct ScheduleStep {
  std::int32_t rank = 0;
  std::int32_t position = 0;   // in the rank's list; of a message that of the action it is from
  std::int32_t receiver = -1;  // >= 0: a message
  double start_s = 0;          // within the step
  double end_s = 0;
};

// Ends with the action that ends last; before each stands what it waited for. Where several end at
// once, the one of the same rank.
struct CriticalPath {
  std::vector<ScheduleStep> steps;
  // Work, messages and optimizer_sync; sums to the step. A step that reaches back over its start
  // (asynchronous, post-validation) is cut there.
  TimeUseSeconds composition_s{};
  int messages = 0;
};
CriticalPath schedule_path(const Schedule& schedule, const std::vector<StageCost>& costs,
                           const ScheduleGraph& graph, const GraphTimes& times,
                           const StepClock& clock);

// [node] How much later it could end without anything ending after the last end of all.
std::vector<double> node_slack_s(const ScheduleGraph& graph, const std::vector<double>& duration_s,
                                 const GraphTimes& times);

}  // namespace windtunnel

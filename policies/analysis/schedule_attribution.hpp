// Tells how each pipeline rank spends a step, and which chain of actions and messages determines
// the length of the step.
//
// Each rank's step is a window of time; all windows have the same length:
// - all ranks wait for the gradients' norm: from 0 to the makespan and the norm's all-reduce;
// - post-validation (Zero Bubble, arXiv 2401.10241, section 4): from the rank's first start, for
//   the longest span from first start to last end of any rank, because each rank goes on with the
//   next step;
// - asynchronous: the period in steady state (steady_window()), up to the rank's end of the
//   window's last iteration.
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
  // all-reduce of the gradients' norm; unused with post-validation and in asynchronous schedules
  double norm_s = 0;
};

struct StepWindow {
  double from_s = 0;
  double to_s = 0;
};

class StepClock {
 public:
  // Keeps references to `schedule` and `graph`.
  StepClock(const Schedule& schedule, const ScheduleGraph& graph, const OptimizerSync& sync);

  double step_s(const GraphTimes& times) const;
  std::vector<StepWindow> windows(const GraphTimes& times) const;  // [rank]
  // The node whose end is the step's end, before any all-reduce of the norm.
  std::int32_t last_node(const GraphTimes& times) const;
  double norm_s() const;

 private:
  // Time from the start of the rank's first pass to the end of its last.
  double span_s(const GraphTimes& times, int rank) const;
  // Returns the node of an iteration that ends last, on one rank or (-1) on any.
  std::int32_t last_of_iteration(const GraphTimes& times, int iteration, int rank = -1) const;

  const Schedule& schedule_;
  const ScheduleGraph& graph_;
  OptimizerSync sync_;
  std::vector<std::int32_t> first_;  // [rank] node of its first pass, -1: it has none
  // Asynchronous: [iteration][rank] the nodes of its backwards.
  std::vector<std::vector<std::vector<std::int32_t>>> backwards_;
};

// The time of an overlapped pair is divided in proportion to the times that its passes take alone.
// A gap before an action is divided along the chain of nodes that it waits for, back to the gap's
// start: messages count as `message`; other ranks' passes count as `warm_up` before the rank's
// first action, and as `stall` afterwards. A gap after the rank's last action is `cool_down`.
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

// Returns for each rank times that add up to the step.
std::vector<TimeUseSeconds> attribute_time(const Schedule& schedule,
                                           const std::vector<StageCost>& costs,
                                           const ScheduleGraph& graph, const GraphTimes& times,
                                           const StepClock& clock);

struct ScheduleStep {
  std::int32_t rank = 0;
  std::int32_t position = 0;   // in the rank's list; a message has that of the action that sends it
  std::int32_t receiver = -1;  // >= 0: a message
  double start_s = 0;          // from the start of the step
  double end_s = 0;
};

// The chain of actions and messages that determines the length of the step. Each waits for the one
// before it; the last one ends last. If several predecessors end together, that of the same rank
// counts.
struct CriticalPath {
  std::vector<ScheduleStep> steps;
  // The times of passes, messages and optimizer_sync, which add up to the step. A chain that
  // reaches back beyond the step's start (asynchronous, post-validation) is cut there.
  TimeUseSeconds composition_s{};
  int messages = 0;
};
CriticalPath schedule_path(const Schedule& schedule, const std::vector<StageCost>& costs,
                           const ScheduleGraph& graph, const GraphTimes& times,
                           const StepClock& clock);

// Returns for each node how much later it could end without delaying the end of the last one.
std::vector<double> node_slack_s(const ScheduleGraph& graph, const std::vector<double>& duration_s,
                                 const GraphTimes& times);

}  // namespace windtunnel

// Analysis of a schedule on an idle network, without the engine: bubbles by all published
// definitions, memory over time, how each rank spends its time, which chain of actions determines
// the length of the step, and how other times would change it.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "policies/analysis/schedule_attribution.hpp"
#include "policies/analysis/schedule_memory.hpp"
#include "policies/analysis/schedule_sensitivity.hpp"

namespace windtunnel {

// Bubbles of the iteration without the optimizer (of a period, if the schedule is asynchronous)
// have three definitions, by name:
// - makespan: makespan - work of the busiest rank (Megatron, GPipe);
// - longest_stage: longest span from a rank's first start to its last end - work of the busiest
//   rank (Zero Bubble). It ignores that ranks start at different times, which costs time unless
//   post-validation is used;
// - idle: the part of the makespan in which a rank does not work, mean over ranks (what a profiler
//   shows).
// Megatron divides the bubble by the ideal time, GPipe and Zero Bubble by the total.
struct BubbleFigure {
  std::string_view definition;
  double bubble_s = 0;
  double ideal_s = 0;  // work of the busiest rank; in the definition "idle", of the average rank
  double total_s = 0;  // bubble_s + ideal_s

  double of_ideal() const { return ideal_s > 0 ? bubble_s / ideal_s : 0; }
  double of_total() const { return total_s > 0 ? bubble_s / total_s : 0; }
};

struct ScheduleAnalysis {
  double step_s = 0;      // see policies/analysis/schedule_attribution.hpp
  double makespan_s = 0;  // until the last pass of the iteration; asynchronous: the period
  std::array<BubbleFigure, 3> bubbles;
  ScheduleSpans spans;                       // from the start of the first action
  std::vector<std::vector<double>> slack_s;  // [rank][position], see node_slack_s()
  std::vector<RankActivations> activations;  // [rank]
  std::vector<TimeUseSeconds> time_s;        // [rank]
  std::vector<StepWindow> windows;           // [rank] the window of time_s, on the clock of `spans`
  CriticalPath path;
  ScheduleSensitivity sensitivity;
};

struct AnalysisOptions {
  OptimizerSync sync;
  SensitivityOptions sensitivity;
};

// `costs`: [stage of the model * slices + slice]. The schedule must pass validate_schedule and
// contain no messages. Throws Error naming rank and action if the order deadlocks.
ScheduleAnalysis analyse_schedule(const Schedule& schedule, const std::vector<StageCost>& costs,
                                  const Messages& messages, const AnalysisOptions& options = {});

}  // namespace windtunnel

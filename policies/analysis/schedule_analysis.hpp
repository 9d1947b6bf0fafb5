// All that is reported of a schedule on an idle network, without an engine: bubbles by every
// definition in print, memory over time, where each rank's time goes, what sets the length of the
// step, and what would change it.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "policies/analysis/schedule_attribution.hpp"
#include "policies/analysis/schedule_memory.hpp"
#include "policies/analysis/schedule_sensitivity.hpp"

namespace windtunnel {

// Of the iteration without optimizer; under an asynchronous schedule of a period. By name:
// - makespan: makespan - work of the busiest rank (Megatron, GPipe);
// - longest_stage: longest span from a rank's first start to its last end, less the same (Zero
//   Bubble): it forgives the skew between ranks, which is lost unless post-validation is used;
// - idle: mean over ranks of the makespan in which a rank does not work (what a profiler shows).
// Megatron divides by the ideal time, GPipe and Zero Bubble by the total.
struct BubbleFigure {
  std::string_view definition;
  double bubble_s = 0;
  double ideal_s = 0;  // work of the busiest rank; of the mean rank for idle
  double total_s = 0;  // bubble and ideal

  double of_ideal() const { return ideal_s > 0 ? bubble_s / ideal_s : 0; }
  double of_total() const { return total_s > 0 ? bubble_s / total_s : 0; }
};

struct ScheduleAnalysis {
  double step_s = 0;      // see policies/analysis/schedule_attribution.hpp
  double makespan_s = 0;  // of a flush; asynchronous: the period
  std::array<BubbleFigure, 3> bubbles;
  ScheduleSpans spans;                       // from the start of the first action of all
  std::vector<std::vector<double>> slack_s;  // [rank][position]: node_slack_s
  std::vector<RankActivations> activations;  // [rank]
  std::vector<TimeUseSeconds> time_s;        // [rank]
  std::vector<StepWindow> windows;           // [rank] that time_s is about, on spans' clock
  CriticalPath path;
  ScheduleSensitivity sensitivity;
};

struct AnalysisOptions {
  OptimizerSync sync;
  SensitivityOptions sensitivity;
};

// `costs`: [stage of the model * slices + slice]. Of a schedule that passes validate_schedule and
// holds no messages. Throws Error naming rank and action when the order deadlocks.
ScheduleAnalysis analyse_schedule(const Schedule& schedule, const std::vector<StageCost>& costs,
                                  const Messages& messages, const AnalysisOptions& options = {});

}  // namespace windtunnel

#include "policies/analysis/schedule_analysis.hpp"

#include <numeric>

#include "policies/analysis/schedule_graph.hpp"

namespace windtunnel {
namespace {

std::array<BubbleFigure, 3> bubble_figures(const ScheduleEvaluation& evaluation) {
  const double busiest_s = evaluation.max_busy_s();
  const double mean_s = std::accumulate(evaluation.busy_s.begin(), evaluation.busy_s.end(), 0.0) /
                        static_cast<double>(evaluation.busy_s.size());
  const double makespan_s = evaluation.makespan_s;
  return {{{"makespan", evaluation.bubble_makespan_s(), busiest_s, makespan_s},
           {"longest_stage", evaluation.bubble_longest_stage_s(), busiest_s,
            evaluation.longest_stage_s},
           {"idle", makespan_s - mean_s, mean_s, makespan_s}}};
}

}  // namespace

ScheduleAnalysis analyse_schedule(const Schedule& schedule, const std::vector<StageCost>& costs,
                                  const Messages& messages, const AnalysisOptions& options) {
  // The evaluation comes first, because its error tells best where an order deadlocks.
  const ScheduleEvaluation evaluation = evaluate_schedule(schedule, costs, {.messages = messages});
  const ScheduleGraph graph = schedule_graph(schedule, costs, messages);
  const std::vector<double> duration_s = node_durations(graph, schedule, costs, messages.times);
  GraphTimes times;
  play(graph, duration_s, times);
  const std::vector<double> slack_s = node_slack_s(graph, duration_s, times);
  const StepClock clock(schedule, graph, options.sync);

  ScheduleAnalysis analysis;
  analysis.step_s = clock.step_s(times);
  analysis.makespan_s = evaluation.makespan_s;
  analysis.bubbles = bubble_figures(evaluation);
  for (const auto& nodes : graph.node_of) {
    analysis.spans.emplace_back();
    analysis.slack_s.emplace_back();
    for (const std::int32_t node : nodes) {
      analysis.spans.back().push_back({times.start_s[node], times.end_s[node]});
      analysis.slack_s.back().push_back(slack_s[node]);
    }
  }
  analysis.activations = schedule_activations(schedule, costs, analysis.spans);
  analysis.time_s = attribute_time(schedule, costs, graph, times, clock);
  analysis.windows = clock.windows(times);
  analysis.path = schedule_path(schedule, costs, graph, times, clock);
  analysis.sensitivity =
      schedule_sensitivity(schedule, costs, messages, options.sync, options.sensitivity);
  return analysis;
}

}  // namespace windtunnel

#include "validate/pages/execution_answer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/units.hpp"
#include "report/text/json_text.hpp"
#include "traces/perfetto/tracks.hpp"

namespace windtunnel {

std::string signed_percent(double share) {
  return fmt::format("{:+.1f} %", 100 * share);
}

std::string ways_text(const ExecutedPlan& executed) {
  const ExecutionWays ways = execution_ways(executed);
  return fmt::format("links: {}, computations: {}, collectives: {}", ways.links, ways.computations,
                     ways.collectives);
}

namespace {

std::vector<std::string> time_cells(const std::string& name, const ComparedTime& time) {
  return {name, format_seconds(time.predicted_s), format_seconds(time.measured_s),
          signed_percent(time.error())};
}

std::string factor_text(double factor) {
  if (factor >= 1000) return fmt::format("1/{:.0f}", factor);
  return factor >= 1 ? fmt::format("1/{:.4g}", factor) : fmt::format("{:.4g}/1", 1 / factor);
}

std::string executions_line(const ExecutedPlan& executed, const Executions& executions) {
  return fmt::format(
      "{}: {} ranks, executed {} times with {} of its durations and {} of its bytes ({})",
      executed.scenario, executed.plan.ranks, executions.measured.size(),
      factor_text(executions.scale.times), factor_text(executions.scale.bytes),
      ways_text(executed));
}

// Has rows for the step, each kind of task, each step's end if there are several, and each rank.
TextTable execution_table(const ExecutionComparison& comparison) {
  TextTable times = titled_table(" | predicted > | measured > | error >");
  times.rows.push_back(time_cells("step", comparison.step));
  // The mean per rank is comparable with the step; a receive lasts from when it is posted.
  const double ranks = std::max<double>(1, static_cast<double>(comparison.ranks.size()));
  for (const ComparedKind& kind : comparison.kinds) {
    const bool waits = kind.kind == TaskKind::recv || kind.kind == TaskKind::collective;
    times.rows.push_back(
        time_cells(fmt::format("{}, mean of a rank{} ({} tasks in all)", name_of(kind.kind),
                               waits ? ", waits in it" : "", kind.tasks),
                   {kind.total.predicted_s / ranks, kind.total.measured_s / ranks}));
  }
  if (comparison.iterations.size() > 1) {
    for (std::size_t i = 0; i < comparison.iterations.size(); ++i) {
      times.rows.push_back(time_cells(fmt::format("end of step {}", i), comparison.iterations[i]));
    }
  }
  for (const ComparedRank& rank : comparison.ranks) {
    times.rows.push_back(time_cells(fmt::format("end of rank {}", rank.rank), rank.end));
  }
  return times;
}

Json time_document(const ComparedTime& time) {
  return {
      {"predicted_s", time.predicted_s}, {"measured_s", time.measured_s}, {"error", time.error()}};
}

// Returns the error of a task's prediction, to be appended to the task's name.
std::string error_of_task(const Span& predicted, const Span& measured) {
  const double predicted_s = predicted.end_s - predicted.start_s;
  const double measured_s = measured.end_s - measured.start_s;
  if (measured_s <= 0) return "";
  return fmt::format(", {} off", signed_percent(predicted_s / measured_s - 1));
}

Json execution_track(const RankClass& rank_class, RankId rank, const Track& track,
                     std::string_view which, const RankTimeline& predicted,
                     const RankTimeline& measured) {
  Json starts = Json::array(), durations = Json::array(), categories = Json::array(),
       names = Json::array();
  for (const TrackEvent& event : track.events) {
    const Task& task = rank_class.tasks[event.task];
    starts.push_back(event.start_ns);
    durations.push_back(event.end_ns - event.start_ns);
    categories.push_back(static_cast<int>(main_category(task)));
    names.push_back(task.name +
                    error_of_task(predicted.spans[event.task], measured.spans[event.task]));
  }
  return {{"rank", fmt::format("rank {}", rank)},
          {"stream", fmt::format("{}, {}", rank_class.streams[track.stream].name, which)},
          {"start_ns", starts},
          {"duration_ns", durations},
          {"category", categories},
          {"name", names},
          {"critical", Json::array()}};
}

Json timelines_chart(const ExecutedPlan& executed, const Timeline& predicted,
                     const Timeline& measured, std::size_t max_spans) {
  const TimelineTracks told(executed.plan, predicted), ran(executed.plan, measured);
  Json tracks = Json::array();
  std::size_t spans = 0;
  int left_out = 0;
  for (int entry = 0; entry < std::ssize(predicted.ranks); ++entry) {
    const RankTimeline& rank = predicted.ranks[entry];
    const RankClass& rank_class = executed.plan.classes[rank.rank_class];
    spans += 2 * rank.spans.size();
    if (spans > max_spans) {
      ++left_out;
      continue;
    }
    const std::vector<Track> above = told.tracks(entry), below = ran.tracks(entry);
    for (std::int16_t stream = 0; stream < std::ssize(rank_class.streams); ++stream) {
      const auto add = [&](const std::vector<Track>& of, std::string_view which) {
        for (const Track& track : of) {
          if (track.stream != stream) continue;
          tracks.push_back(
              execution_track(rank_class, rank.rank, track, which, rank, measured.ranks[entry]));
        }
      };
      add(above, "predicted");
      add(below, "executed");
    }
  }
  Json categories = Json::array();
  for (int i = 0; i < kCategories; ++i) categories.push_back(to_string(static_cast<Category>(i)));
  const Json gantt = {{"title", "As predicted and as it ran"},
                      {"makespan_s", std::max(predicted.makespan_s, measured.makespan_s)},
                      {"categories", categories},
                      {"ranks_left_out", left_out},
                      {"rest", "predicted.json and executed.json of --out"},
                      {"tracks", tracks}};
  return {{"kind", "gantt"}, {"gantt", gantt}};
}

}  // namespace

Json execution_document(const ExecutedPlan& executed, const Executions& executions,
                        const ExecutionComparison& comparison) {
  Json document;
  document["scenario"] = executed.scenario;
  document["ranks"] = executed.plan.ranks;
  document["scale"] = {{"times", executions.scale.times}, {"bytes", executions.scale.bytes}};
  const ExecutionWays ways = execution_ways(executed);
  document["links"] = ways.links;
  document["computations"] = ways.computations;
  document["collectives"] = ways.collectives;
  document["executions"] = comparison.executions;
  document["strangers"] = executions.strangers;
  document["step"] = time_document(comparison.step);
  document["step"]["low_s"] = comparison.low_s;
  document["step"]["high_s"] = comparison.high_s;
  document["steps"] = Json::array();
  for (const ComparedTime& end : comparison.iterations) {
    document["steps"].push_back(time_document(end));
  }
  document["ranks_end"] = Json::array();
  for (const ComparedRank& rank : comparison.ranks) {
    Json row = {{"rank", rank.rank}};
    row.update(time_document(rank.end));
    document["ranks_end"].push_back(row);
  }
  document["kinds"] = Json::array();
  for (const ComparedKind& kind : comparison.kinds) {
    Json row = {{"kind", name_of(kind.kind)}, {"tasks", kind.tasks}};
    row.update(time_document(kind.total));
    row["median_error"] = kind.median_error;
    document["kinds"].push_back(row);
  }
  return document;
}

Answer execution_answer(const ExecutedPlan& executed, const Executions& executions,
                        const ExecutionComparison& comparison,
                        const ExecutionAnswerOptions& options) {
  Answer answer{.title = fmt::format("{}, predicted and executed", executed.scenario),
                .subtitle = executions_line(executed, executions),
                .figures = {{"step, predicted", format_seconds(comparison.step.predicted_s)},
                            {"step, measured", format_seconds(comparison.step.measured_s),
                             fmt::format("{} to {}", format_seconds(comparison.low_s),
                                         format_seconds(comparison.high_s))},
                            {"error", signed_percent(comparison.step.error())}},
                .sections = {chart_section([&, most = options.max_spans] {
                               return timelines_chart(
                                   executed, executions.predicted,
                                   usual_execution(executed, executions.measured, comparison),
                                   most);
                             }),
                             {"Steps, kinds of task and ranks", {}, execution_table(comparison)}},
                .kind = "execute",
                .document = [&] { return execution_document(executed, executions, comparison); }};
  for (const ComparedKind& kind : comparison.kinds) {
    answer.figures.push_back({fmt::format("error, {}", name_of(kind.kind)),
                              signed_percent(kind.total.error()),
                              fmt::format("single tasks {:.0f} %", 100 * kind.median_error)});
  }
  answer.sections.back().with_figures = true;
  if (executions.strangers > 0) {
    answer.warnings.push_back(
        fmt::format("{} connections from unknown programs were refused.", executions.strangers));
  }
  return answer;
}

}  // namespace windtunnel

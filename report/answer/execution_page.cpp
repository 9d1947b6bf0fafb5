#include "report/answer/execution_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/units.hpp"
#include "report/answer/answer_page.hpp"
#include "report/validation/execution_tables.hpp"
#include "traces/perfetto/tracks.hpp"

namespace windtunnel {
namespace {

// Of both timelines, by task: what its name is followed by.
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

AnswerChart timelines_chart(const ExecutedPlan& executed, const Timeline& predicted,
                            const Timeline& measured, const ExecutionPageOptions& options) {
  const TimelineTracks told(executed.plan, predicted), ran(executed.plan, measured);
  Json tracks = Json::array();
  std::size_t spans = 0;
  int left_out = 0;
  for (int entry = 0; entry < std::ssize(predicted.ranks); ++entry) {
    const RankTimeline& rank = predicted.ranks[entry];
    const RankClass& rank_class = executed.plan.classes[rank.rank_class];
    spans += 2 * rank.spans.size();
    if (spans > options.max_spans) {
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
  const Json gantt = {{"title", "As predicted, and as it ran"},
                      {"makespan_s", std::max(predicted.makespan_s, measured.makespan_s)},
                      {"categories", categories},
                      {"ranks_left_out", left_out},
                      {"rest", "predicted.json and executed.json of --out"},
                      {"tracks", tracks}};
  return {{{"kind", "gantt"}, {"gantt", gantt}}};
}

}  // namespace

std::string execution_page(const ExecutedPlan& executed, const Executions& executions,
                           const ExecutionComparison& comparison,
                           const ExecutionPageOptions& options) {
  AnswerPage page;
  page.title = fmt::format("{}, predicted and executed", executed.scenario);
  page.subtitle = executions_line(executed, executions);
  page.figures.push_back({"step, predicted", format_seconds(comparison.step.predicted_s)});
  page.figures.push_back({"step, measured", format_seconds(comparison.step.measured_s),
                          fmt::format("{} to {}", format_seconds(comparison.low_s),
                                      format_seconds(comparison.high_s))});
  page.figures.push_back({"error", signed_percent(comparison.step.error())});
  for (const ComparedKind& kind : comparison.kinds) {
    page.figures.push_back({fmt::format("error, {}", name_of(kind.kind)),
                            signed_percent(kind.total.error()),
                            fmt::format("single tasks {:.0f} %", 100 * kind.median_error)});
  }
  page.parts.emplace_back(
      timelines_chart(executed, executions.predicted,
                      usual_execution(executed, executions.measured, comparison), options));
  page.parts.emplace_back(
      SummarySection{"Steps, kinds of task and ranks", {}, execution_table(comparison)});
  return answer_page(page);
}

}  // namespace windtunnel

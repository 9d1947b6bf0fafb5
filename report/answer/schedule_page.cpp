#include "report/answer/schedule_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "report/answer/answer_page.hpp"

namespace windtunnel {
namespace {

constexpr std::array kKinds = {"forward",         "backward",  "input gradient",
                               "weight gradient", "recompute", "forward + backward"};
constexpr int kPairKind = 5;

std::int64_t ns_of(double seconds) {
  return std::llround(seconds * 1e9);
}

// Actions that take time, in their order; two that run as one are drawn as one.
Json rank_track(const ScheduleReport& report, int rank) {
  const auto& actions = report.schedule.actions[rank];
  Json starts = Json::array(), durations = Json::array(), kinds = Json::array(),
       names = Json::array(), critical = Json::array();
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const ActionSpan& span = report.analysis.spans[rank][i];
    const bool pair = actions[i].with_next;
    if (span.end_s > span.start_s && actions[i].kind <= ActionKind::recompute) {
      const bool sets_step = report.analysis.slack_s[rank][i] <= 1e-9 * report.analysis.step_s;
      if (sets_step) critical.push_back(names.size());
      starts.push_back(ns_of(span.start_s));
      durations.push_back(ns_of(span.end_s) - ns_of(span.start_s));
      kinds.push_back(pair ? kPairKind : static_cast<int>(actions[i].kind));
      names.push_back(pair ? to_string(actions[i]) + "&" + to_string(actions[i + 1])
                           : to_string(actions[i]));
    }
    if (pair) ++i;
  }
  return {{"rank", fmt::format("rank {}", rank)},
          {"stream", ""},
          {"start_ns", starts},
          {"duration_ns", durations},
          {"category", kinds},
          {"name", names},
          {"critical", critical}};
}

double end_of(const ScheduleReport& report) {
  double end_s = 0;
  for (const auto& rank : report.analysis.spans) {
    for (const ActionSpan& span : rank) end_s = std::max(end_s, span.end_s);
  }
  return end_s;
}

Json activation_curve(const ScheduleReport& report, int rank) {
  const RankActivations& memory = report.analysis.activations[rank];
  Json gaps = Json::array(), changes = Json::array();
  std::int64_t at_ns = 0;
  double level = 0;
  for (const ActivationPoint& point : memory.points) {
    gaps.push_back(ns_of(point.time_s) - at_ns);
    changes.push_back(point.activation - level);
    at_ns = ns_of(point.time_s);
    level = point.activation;
  }
  Json peak = nullptr;
  if (memory.peak_position >= 0) {
    peak = {{"at", ns_of(memory.peak_s)},
            {"bytes", memory.peak},
            {"task", to_string(report.schedule.actions[rank][memory.peak_position])}};
  }
  return {{"rank", fmt::format("rank {}", rank)},
          {"static_bytes", 0},
          {"gap", gaps},
          {"change", changes},
          {"peak", peak}};
}

AnswerChart gantt_chart(const ScheduleReport& report, const SchedulePageOptions& options) {
  Json tracks = Json::array(), curves = Json::array();
  std::size_t spans = 0;
  int left_out = 0;
  for (int rank = 0; rank < report.schedule.ranks; ++rank) {
    spans += report.schedule.actions[rank].size();
    if (spans > options.max_spans) {
      ++left_out;
      continue;
    }
    tracks.push_back(rank_track(report, rank));
    curves.push_back(activation_curve(report, rank));
  }
  const Json gantt = {{"makespan_s", end_of(report)},
                      {"categories", kKinds},
                      {"ranks_left_out", left_out},
                      {"rest", "the document of --json"},
                      {"tracks", tracks}};
  Json memory = {{"tick_ns", 1}, {"unit_bytes", 1}, {"usable_bytes", 0}, {"ranks", curves}};
  if (!report.in_bytes) memory["title"] = "Activations over time by rank, in micro-batches";
  return {{{"kind", "gantt"}, {"gantt", gantt}, {"curves", memory}}};
}

}  // namespace

std::string schedule_page(const ScheduleReport& report, std::vector<SummarySection> more,
                          const SchedulePageOptions& options) {
  std::string notes;
  for (const std::string& note : report.notes) notes += (notes.empty() ? "" : "; ") + note;
  if (!report.in_seconds) {
    notes += std::string(notes.empty() ? "" : "; ") +
             "times have no unit: each pass takes what --times "
             "says, or one";
  }
  AnswerPage page{report.title, notes, schedule_figures(report), {}, {}};
  if (!report.in_seconds) page.plain.emplace_back("seconds");
  if (!report.in_bytes) page.plain.emplace_back("memory");
  page.parts.emplace_back(gantt_chart(report, options));
  for (SummarySection& section : more) page.parts.emplace_back(std::move(section));
  for (SummarySection& section : schedule_sections(report)) {
    page.parts.emplace_back(std::move(section));
  }
  return answer_page(page);
}

}  // namespace windtunnel

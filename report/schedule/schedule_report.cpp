#include "report/schedule/schedule_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "models/base/units.hpp"
#include "report/text/table.hpp"

namespace windtunnel {
namespace {

// Formats figures in the units of a report.
class Figures {
 public:
  explicit Figures(const ScheduleReport& report) : report_(report) {}

  std::string time(double seconds) const {
    if (report_.in_seconds) return format_seconds(seconds);
    return fmt::format("{:.5g}", std::abs(seconds) < 1e-9 ? 0.0 : seconds);
  }
  std::string activation(double amount) const {
    return report_.in_bytes ? format_bytes(amount) : fmt::format("{:.4g}", amount);
  }
  // A time as a share of the step.
  std::string share(double seconds) const { return format_percent(seconds / step_s()); }
  std::string change(double seconds) const {
    const double percent = 100 * seconds / step_s();
    return fmt::format("{:+.1f} %", std::abs(percent) < 0.05 ? 0.0 : percent);
  }

 private:
  double step_s() const { return report_.analysis.step_s > 0 ? report_.analysis.step_s : 1; }

  const ScheduleReport& report_;
};

std::string plural(int count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// The three definitions of a bubble (Megatron and GPipe, Zero Bubble, profilers): see BubbleFigure.
TextTable bubble_table(const ScheduleReport& report, const Figures& figures) {
  constexpr std::array<std::string_view, 3> kMeanings = {
      "makespan - work of the busiest rank (GPipe, Megatron)",
      "longest span of a rank - work of the busiest rank (Zero Bubble)",
      "mean over ranks (a profiler)"};
  TextTable table = titled_table("bubble | time > | of ideal > | of total > | ");
  for (std::size_t i = 0; i < report.analysis.bubbles.size(); ++i) {
    const BubbleFigure& bubble = report.analysis.bubbles[i];
    std::string name(bubble.definition);
    std::replace(name.begin(), name.end(), '_', ' ');
    table.rows.push_back({name, figures.time(bubble.bubble_s), format_percent(bubble.of_ideal()),
                          format_percent(bubble.of_total()), std::string(kMeanings[i])});
  }
  return table;
}

// This is the width of the table without bars.
std::size_t width_of(const TextTable& table) {
  const std::string text = table_text(table);
  std::size_t widest = 0;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = text.find('\n', from);
    widest = std::max(widest, end - from);
    from = end + 1;
  }
  return widest;
}

TextTable memory_table(const ScheduleReport& report, const Figures& figures) {
  TextTable table = titled_table("rank > | peak > | set by | at >");
  for (int rank = 0; rank < report.schedule.ranks; ++rank) {
    const RankActivations& memory = report.analysis.activations[rank];
    std::string action = "nothing";
    if (memory.peak_position >= 0) {
      action = to_string(report.schedule.actions[rank][memory.peak_position]);
    }
    table.rows.push_back({std::to_string(rank), figures.activation(memory.peak), action,
                          figures.time(memory.peak_s)});
  }
  return table;
}

// The console adds bars if there is room.
std::vector<SummarySection> activation_sections(const ScheduleReport& report,
                                                const Figures& figures, std::size_t width) {
  SummarySection plain{"Activations", {}, memory_table(report, figures)};
  double highest = 0;
  for (const RankActivations& memory : report.analysis.activations) {
    highest = std::max(highest, memory.peak);
  }
  constexpr int kShortest = 8;
  constexpr int kLongest = 40;
  constexpr int kBeside = 4;  // blanks before the table, and between table and bars
  const int room = std::min(
      kLongest, static_cast<int>(width) - static_cast<int>(width_of(plain.table)) - kBeside);
  if (room < kShortest || highest <= 0) return {std::move(plain)};
  SummarySection barred = plain;
  plain.where = ShownOn::page;
  barred.where = ShownOn::console;
  barred.table.columns.push_back({""});
  for (int rank = 0; rank < report.schedule.ranks; ++rank) {
    const double share = report.analysis.activations[rank].peak / highest;
    barred.table.rows[rank].push_back(
        std::string(static_cast<std::size_t>(std::lround(share * room)), '#'));
  }
  return {std::move(barred), std::move(plain)};
}

// Omits uses of time that no rank has.
TextTable time_table(const ScheduleReport& report) {
  constexpr std::array<std::string_view, kTimeUses> kTitles = {"forward",   "input",     "weight",
                                                               "recompute", "warm-up",   "message",
                                                               "stall",     "cool-down", "norm"};
  const double step_s = report.analysis.step_s > 0 ? report.analysis.step_s : 1;
  TextTable table{{{"rank", Align::right}}, {}};
  std::vector<std::size_t> shown;
  for (std::size_t use = 0; use < kTitles.size(); ++use) {
    const bool any = std::any_of(
        report.analysis.time_s.begin(), report.analysis.time_s.end(),
        [&](const TimeUseSeconds& uses_s) { return std::abs(uses_s[use]) > 1e-9 * step_s; });
    if (!any) continue;
    shown.push_back(use);
    table.columns.push_back({std::string(kTitles[use]), Align::right});
  }
  for (int rank = 0; rank < report.schedule.ranks; ++rank) {
    std::vector<std::string> row = {std::to_string(rank)};
    for (const std::size_t use : shown) {
      const double share = report.analysis.time_s[rank][use] / step_s;
      row.push_back(fmt::format("{:.1f}", std::abs(share) < 5e-4 ? 0.0 : 100 * share));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

// Returns "0F0 > 1F0 > 2F0..2B7 > 1B7": the critical path as stretches on one rank. Omits the
// middle of a long path.
std::string chain_text(const ScheduleReport& report) {
  std::vector<std::string> stays;
  const auto& steps = report.analysis.path.steps;
  for (std::size_t i = 0; i < steps.size();) {
    if (steps[i].receiver >= 0) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end + 1 < steps.size() && steps[end + 1].receiver < 0 &&
           steps[end + 1].rank == steps[i].rank) {
      ++end;
    }
    const auto& actions = report.schedule.actions[steps[i].rank];
    std::string stay = to_string(actions[steps[i].position]);
    if (end > i) stay += ".." + to_string(actions[steps[end].position]);
    stays.push_back(std::move(stay));
    i = end + 1;
  }
  constexpr std::size_t kEachEnd = 4;
  std::string text;
  for (std::size_t i = 0; i < stays.size(); ++i) {
    if (!text.empty()) text += " > ";
    if (i == kEachEnd && stays.size() > 2 * kEachEnd + 1) {
      const std::size_t left_out = stays.size() - 2 * kEachEnd;
      text += fmt::format("({} more)", left_out);
      i += left_out - 1;
      continue;
    }
    text += stays[i];
  }
  return text;
}

std::vector<SummaryRow> path_rows(const ScheduleReport& report) {
  constexpr std::array<std::string_view, kTimeUses> kNames = {
      "forward", "input gradient", "weight gradient", "recomputation", "", "messages", "", "",
      "norm"};
  const CriticalPath& path = report.analysis.path;
  const double step_s = report.analysis.step_s > 0 ? report.analysis.step_s : 1;
  std::string parts;
  for (std::size_t use = 0; use < kNames.size(); ++use) {
    if (path.composition_s[use] <= 1e-9 * step_s) continue;
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", kNames[use],
                         format_percent(path.composition_s[use] / step_s));
  }
  int critical = 0;
  int all = 0;
  for (const auto& rank : report.analysis.slack_s) {
    for (const double slack_s : rank) {
      ++all;
      if (slack_s <= 1e-9 * step_s) ++critical;
    }
  }
  return {
      {"through", chain_text(report)},
      {"made of", fmt::format("{}, {}: {}",
                              plural(static_cast<int>(path.steps.size()) - path.messages, "action"),
                              plural(path.messages, "message"), parts)},
      {"without slack", fmt::format("{} of {} actions have no slack", critical, all)}};
}

TextTable what_if_table(const ScheduleReport& report, const Figures& figures) {
  return table_of(
      "what if | at zero > | doubled >", report.analysis.sensitivity.what_ifs,
      [&](const WhatIf& effect) -> TableRow {
        std::string name(effect.part);
        std::replace(name.begin(), name.end(), '_', ' ');
        return {name, figures.change(effect.without_s), figures.change(effect.doubled_s)};
      });
}

std::vector<SummaryRow> sensitivity_rows(const ScheduleReport& report, const Figures& figures) {
  const ScheduleSensitivity& sensitivity = report.analysis.sensitivity;
  const SensitivityOptions& options = report.options.sensitivity;
  const auto& growth_s = sensitivity.slow_rank.growth_s;
  std::vector<SummaryRow> rows = {
      {fmt::format("one rank {} slower", format_percent(options.slowness)),
       fmt::format("{} at worst (rank {}), {} at best",
                   figures.change(growth_s[sensitivity.slow_rank.worst]),
                   sensitivity.slow_rank.worst,
                   figures.change(*std::min_element(growth_s.begin(), growth_s.end())))}};
  if (options.draws > 0) {
    rows.push_back({fmt::format("jitter of {} per action", format_percent(options.jitter)),
                    fmt::format("{} on average, {} in one step of 20",
                                figures.change(sensitivity.jitter.mean_s),
                                figures.change(sensitivity.jitter.p95_s))});
  }
  std::string sends;
  for (const SendsEffect& effect : sensitivity.sends) {
    sends += fmt::format("{}{} {}", sends.empty() ? "" : ", ", to_string(effect.sends),
                         effect.step_s ? figures.time(*effect.step_s) : "deadlocks");
  }
  rows.push_back({"sends", sends});
  if (report.schedule.iterations == 1) {
    rows.push_back(
        {"optimizer", fmt::format("{} if all ranks wait for the norm, {} under post-validation",
                                  figures.time(sensitivity.step_with_norm_s),
                                  figures.time(sensitivity.step_post_validated_s))});
  }
  return rows;
}

std::string step_rule(const ScheduleReport& report) {
  if (report.schedule.iterations > 1) return "the period of the steady state";
  const Figures figures(report);
  const std::string makespan = figures.time(report.analysis.makespan_s);
  if (report.options.sync.post_validation) {
    return fmt::format("post-validation; makespan {}", makespan);
  }
  if (report.options.sync.norm_s > 0) {
    return fmt::format("makespan {} and the gradients' norm", makespan);
  }
  return "all ranks wait for each other at its end";
}

std::vector<SummaryRow> schedule_figures(const ScheduleReport& report) {
  const Figures figures(report);
  std::vector<SummaryRow> rows = {
      {"step", figures.time(report.analysis.step_s), step_rule(report)}};
  for (const BubbleFigure& bubble : report.analysis.bubbles) {
    std::string name(bubble.definition);
    std::replace(name.begin(), name.end(), '_', ' ');
    rows.push_back({name == "idle" ? "idle, mean rank" : fmt::format("bubble, {}", name),
                    format_percent(bubble.of_total()), "of the total"});
  }
  double highest = 0;
  for (const RankActivations& memory : report.analysis.activations) {
    highest = std::max(highest, memory.peak);
  }
  rows.push_back({"peak activations", figures.activation(highest),
                  report.in_bytes ? "of the fullest rank" : "in micro-batches, fullest rank"});
  return rows;
}

constexpr std::array kKinds = {"forward",         "backward",  "input gradient",
                               "weight gradient", "recompute", "forward + backward"};
constexpr int kPairKind = 5;

std::int64_t ns_of(double seconds) {
  return std::llround(seconds * 1e9);
}

// Actions that take time, in order; a fused pair is one bar.
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

Json gantt_chart(const ScheduleReport& report, std::size_t max_spans) {
  Json tracks = Json::array(), curves = Json::array();
  std::size_t spans = 0;
  int left_out = 0;
  for (int rank = 0; rank < report.schedule.ranks; ++rank) {
    spans += report.schedule.actions[rank].size();
    if (spans > max_spans) {
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
  return {{"kind", "gantt"}, {"gantt", gantt}, {"curves", memory}};
}

std::string notes_of(const ScheduleReport& report) {
  std::string notes;
  for (const std::string& note : report.notes) notes += (notes.empty() ? "" : "; ") + note;
  if (report.in_seconds) return notes;
  return notes + (notes.empty() ? "" : "; ") +
         "times have no unit: each pass takes the time in --times, or 1";
}

}  // namespace

Answer schedule_answer(const ScheduleReport& report, const ScheduleAnswerOptions& options) {
  const Figures figures(report);
  SummarySection step{"Step", {}};
  step.with_figures = true;
  Answer answer{.title = report.title,
                .subtitle = notes_of(report),
                .figures = schedule_figures(report),
                .sections = {chart_section([&report, most = options.max_spans] {
                               return gantt_chart(report, most);
                             }),
                             std::move(step),
                             {"Bubbles", {}, bubble_table(report, figures)}},
                .kind = "schedule-show",
                .document = [&report] { return schedule_document(report); }};
  std::ranges::move(activation_sections(report, figures, options.width),
                    std::back_inserter(answer.sections));
  answer.sections.push_back({"Time of each rank, % of the step", {}, time_table(report)});
  answer.sections.push_back({"Critical path", path_rows(report)});
  answer.sections.push_back(
      {"Sensitivity", sensitivity_rows(report, figures), what_if_table(report, figures)});
  if (!report.in_seconds) answer.plain.emplace_back("seconds");
  if (!report.in_bytes) answer.plain.emplace_back("memory");
  return answer;
}

}  // namespace windtunnel

#include "report/schedule/schedule_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "models/base/units.hpp"
#include "report/text/table.hpp"

namespace windtunnel {
namespace {

// Figures in the units of a report.
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
  // Of the step.
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

// Megatron and GPipe, Zero Bubble, profilers: see BubbleFigure.
std::string bubble_text(const ScheduleReport& report, const Figures& figures, std::size_t width) {
  constexpr std::array<std::string_view, 3> kMeanings = {
      "makespan - work of the busiest rank (GPipe, Megatron)",
      "longest span of a rank - the same (Zero Bubble)", "mean over ranks (a profiler)"};
  TextTable table{{{"bubble"},
                   {"time", Align::right},
                   {"of ideal", Align::right},
                   {"of total", Align::right},
                   {""}},
                  {}};
  for (std::size_t i = 0; i < report.analysis.bubbles.size(); ++i) {
    const BubbleFigure& bubble = report.analysis.bubbles[i];
    std::string name(bubble.definition);
    std::replace(name.begin(), name.end(), '_', ' ');
    table.rows.push_back({name, figures.time(bubble.bubble_s), format_percent(bubble.of_ideal()),
                          format_percent(bubble.of_total()), std::string(kMeanings[i])});
  }
  return table_text(table, width);
}

// How wide a text without its bars is.
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

std::string memory_text(const ScheduleReport& report, const Figures& figures, int width) {
  TextTable table{
      {{"rank", Align::right}, {"peak", Align::right}, {"set by"}, {"at", Align::right}}, {}};
  double highest = 0;
  for (int rank = 0; rank < report.schedule.ranks; ++rank) {
    const RankActivations& memory = report.analysis.activations[rank];
    highest = std::max(highest, memory.peak);
    std::string action = "nothing";
    if (memory.peak_position >= 0) {
      action = to_string(report.schedule.actions[rank][memory.peak_position]);
    }
    table.rows.push_back({std::to_string(rank), figures.activation(memory.peak), action,
                          figures.time(memory.peak_s)});
  }
  constexpr int kShortest = 8;
  constexpr int kLongest = 40;
  const int room = std::min(kLongest, width - static_cast<int>(width_of(table)) - 2);
  if (room >= kShortest && highest > 0) {
    table.columns.push_back({""});
    for (int rank = 0; rank < report.schedule.ranks; ++rank) {
      const double share = report.analysis.activations[rank].peak / highest;
      table.rows[rank].push_back(
          std::string(static_cast<std::size_t>(std::lround(share * room)), '#'));
    }
  }
  return table_text(table);
}

// Without the uses that no rank has.
std::string time_text(const ScheduleReport& report, std::size_t width) {
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
  return table_text(table, width);
}

// "0F0 > 1F0 > 2F0..2B7 > 1B7": the path by stays on a rank, the middle left out if there are many.
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

std::string path_text(const ScheduleReport& report) {
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
  return fmt::format("  {}\n  {}, {}: {}\n  {} of {} actions have no slack\n", chain_text(report),
                     plural(static_cast<int>(path.steps.size()) - path.messages, "action"),
                     plural(path.messages, "message"), parts, critical, all);
}

std::string what_if_text(const ScheduleReport& report, const Figures& figures) {
  TextTable table{{{"  what if"}, {"at zero", Align::right}, {"doubled", Align::right}}, {}};
  for (const WhatIf& effect : report.analysis.sensitivity.what_ifs) {
    std::string name = "  " + std::string(effect.part);
    std::replace(name.begin(), name.end(), '_', ' ');
    table.rows.push_back(
        {name, figures.change(effect.without_s), figures.change(effect.doubled_s)});
  }
  return table_text(table);
}

std::string sensitivity_text(const ScheduleReport& report, const Figures& figures) {
  const ScheduleSensitivity& sensitivity = report.analysis.sensitivity;
  const SensitivityOptions& options = report.options.sensitivity;
  std::string text = what_if_text(report, figures);
  const auto& growth_s = sensitivity.slow_rank.growth_s;
  text += fmt::format(
      "  one rank {} slower: {} at worst (rank {}), {} at best\n", format_percent(options.slowness),
      figures.change(growth_s[sensitivity.slow_rank.worst]), sensitivity.slow_rank.worst,
      figures.change(*std::min_element(growth_s.begin(), growth_s.end())));
  if (options.draws > 0) {
    text += fmt::format("  jitter of {} per action: {} on average, {} in one step of 20\n",
                        format_percent(options.jitter), figures.change(sensitivity.jitter.mean_s),
                        figures.change(sensitivity.jitter.p95_s));
  }
  text += "  sends: ";
  for (std::size_t i = 0; i < sensitivity.sends.size(); ++i) {
    const SendsEffect& effect = sensitivity.sends[i];
    text += fmt::format("{}{} {}", i > 0 ? ", " : "", to_string(effect.sends),
                        effect.step_s ? figures.time(*effect.step_s) : "deadlocks");
  }
  text += "\n";
  if (report.schedule.iterations == 1) {
    text += fmt::format("  optimizer: {} where all wait for the norm, {} under post-validation\n",
                        figures.time(sensitivity.step_with_norm_s),
                        figures.time(sensitivity.step_post_validated_s));
  }
  return text;
}

std::string step_text(const ScheduleReport& report, const Figures& figures) {
  const ScheduleAnalysis& analysis = report.analysis;
  std::string rule = "all ranks wait for each other at its end";
  if (report.schedule.iterations > 1) {
    rule = "the period of the steady state";
  } else if (report.options.sync.post_validation) {
    rule = fmt::format("post-validation; makespan {}", figures.time(analysis.makespan_s));
  } else if (report.options.sync.norm_s > 0) {
    rule = fmt::format("makespan {} and the gradients' norm", figures.time(analysis.makespan_s));
  }
  return fmt::format("step {} ({})\n", figures.time(analysis.step_s), rule);
}

}  // namespace

std::string schedule_text(const ScheduleReport& report, int width, const ConsoleStyle& style) {
  const Figures figures(report);
  std::string text = style.bold(report.title) + "\n";
  for (const std::string& note : report.notes) text += note + "\n";
  text += step_text(report, figures);
  const auto section = [&](const std::string& title, const std::string& body) {
    text += fmt::format("\n{}{}", title.empty() ? "" : style.bold(title) + "\n", body);
  };
  section("", bubble_text(report, figures, style.width));
  section("Activations", memory_text(report, figures, width));
  section("Time of each rank, % of the step", time_text(report, style.width));
  section("Critical path", path_text(report));
  section("Sensitivity", sensitivity_text(report, figures));
  return text;
}

}  // namespace windtunnel

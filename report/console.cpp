#include "report/console.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/units.hpp"
#include "report/table.hpp"

namespace windtunnel {
namespace {

std::string bold(const std::string& text, const ConsoleStyle& style) {
  return style.colour ? "\x1b[1m" + text + "\x1b[0m" : text;
}

double peak_memory_bytes(const IterationReport& report) {
  double peak = 0;
  for (const GpuMemory& rank : report.memory) peak = std::max(peak, rank.total());
  return peak;
}

std::vector<const ComparedPoint*> by_step_time(const Comparison& comparison) {
  std::vector<const ComparedPoint*> points;
  for (const ComparedPoint& point : comparison.points) {
    if (point.record) points.push_back(&point);
  }
  std::stable_sort(points.begin(), points.end(), [](const auto* a, const auto* b) {
    return a->record->iteration.time_s < b->record->iteration.time_s;
  });
  return points;
}

TextTable comparison_table(const Comparison& comparison) {
  const std::vector<const ComparedPoint*> points = by_step_time(comparison);
  const auto reference = std::find_if(comparison.points.begin(), comparison.points.end(),
                                      [](const ComparedPoint& point) { return !!point.record; });
  TextTable table;
  if (points.empty()) return table;
  const bool with_campaign = points.front()->record->campaign.has_value();
  for (const auto& [key, value] : points.front()->set) table.columns.push_back({key});
  for (const char* title : {"step time", "speed-up", "MFU", "idle", "peak memory"}) {
    table.columns.push_back({title, Align::right});
  }
  if (with_campaign) table.columns.push_back({"goodput", Align::right});
  for (const ComparedPoint* point : points) {
    const IterationReport& report = point->record->iteration;
    std::vector<std::string> row;
    for (const auto& [key, value] : point->set) row.push_back(value);
    row.push_back(format_seconds(report.time_s));
    row.push_back(fmt::format("{:.3f}x", reference->record->iteration.time_s / report.time_s));
    row.push_back(format_percent(report.mfu));
    row.push_back(format_percent(report.bubble.idle));
    row.push_back(format_bytes(peak_memory_bytes(report)));
    if (with_campaign) row.push_back(format_percent(point->record->campaign->goodput.mean));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

std::string summary_text(const Summary& summary, const ConsoleStyle& style) {
  std::string text = fmt::format("{}\n{}\n", bold(summary.title, style), summary.subtitle);
  size_t width = 0;
  for (const SummarySection& section : summary.sections) {
    for (const SummaryRow& row : section.rows) width = std::max(width, row.label.size());
  }
  for (const SummarySection& section : summary.sections) {
    text += fmt::format("\n{}\n", bold(section.title, style));
    for (const SummaryRow& row : section.rows) {
      text += fmt::format("  {:<{}}  {}\n", row.label, width, row.value);
    }
  }
  return text;
}

std::string compare_text(const Comparison& comparison, const ConsoleStyle& style) {
  std::string text;
  const TextTable table = comparison_table(comparison);
  if (!table.rows.empty()) text += table_text(table);
  bool first = true;
  for (const ComparedPoint& point : comparison.points) {
    if (point.record) continue;
    if (first) text += fmt::format("{}{}\n", text.empty() ? "" : "\n", bold("Infeasible", style));
    text += fmt::format("  {}: {}\n", set_text(point.set), point.reason);
    first = false;
  }
  return text;
}

std::string explain_text(const std::vector<ResolvedValue>& values) {
  TextTable table{{{"key"}, {"value"}, {"from"}, {"origin"}, {"source"}}, {}};
  for (const ResolvedValue& value : values) {
    table.rows.push_back({value.key, value.value, value.is_default ? "default" : "scenario",
                          to_string(value.origin), value.source});
  }
  return table_text(table);
}

std::string set_text(const Overrides& set) {
  std::string text;
  for (const auto& [key, value] : set) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, value);
  }
  return text.empty() ? "as given" : text;
}

}  // namespace windtunnel

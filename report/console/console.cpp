#include "report/console/console.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "models/base/units.hpp"
#include "report/figures/comparison_columns.hpp"
#include "report/text/table.hpp"

namespace windtunnel {
namespace {

std::string bold(const std::string& text, const ConsoleStyle& style) {
  return style.colour ? "\x1b[1m" + text + "\x1b[0m" : text;
}

double goodput_of(const ComparedPoint& point) {
  return point.record->campaign ? point.record->campaign->goodput.mean : 0;
}

std::vector<const ComparedPoint*> ranked_points(const Comparison& comparison) {
  std::vector<const ComparedPoint*> points;
  for (const ComparedPoint& point : comparison.points) {
    if (point.record) points.push_back(&point);
  }
  const bool by_goodput = varies_protection_only(comparison);
  std::ranges::stable_sort(points, {}, [&](const ComparedPoint* point) {
    return by_goodput ? -goodput_of(*point) : point->record->iteration.time_s;
  });
  return points;
}

std::vector<std::string> iteration_cells(const IterationReport& report,
                                         const IterationReport& reference) {
  return {format_seconds(report.time_s), fmt::format("{:.3f}x", reference.time_s / report.time_s),
          format_percent(report.mfu), format_percent(report.bubble.idle),
          format_bytes(peak_memory_bytes(report))};
}

TextTable comparison_table(const Comparison& comparison) {
  const std::vector<const ComparedPoint*> points = ranked_points(comparison);
  TextTable table;
  if (points.empty()) return table;
  const auto reference = std::ranges::find_if(
      comparison.points, [](const ComparedPoint& point) { return !!point.record; });
  const bool with_iteration = !varies_protection_only(comparison);
  std::vector<const ComparedColumn*> columns = protection_columns(comparison);
  if (has_steps(comparison)) columns.push_back(&days_column());
  if (has_campaign(comparison)) columns.push_back(&goodput_column());
  for (const auto& [key, value] : points.front()->set) table.columns.push_back({key});
  if (with_iteration) {
    for (const char* title : {"step time", "speed-up", "MFU", "idle", "peak memory"}) {
      table.columns.push_back({title, Align::right});
    }
  }
  for (const ComparedColumn* column : columns) {
    table.columns.push_back({column->title, Align::right});
  }
  for (const ComparedPoint* point : points) {
    std::vector<std::string> row;
    for (const auto& [key, value] : point->set) row.push_back(value);
    if (with_iteration) {
      std::ranges::move(iteration_cells(point->record->iteration, reference->record->iteration),
                        std::back_inserter(row));
    }
    for (const ComparedColumn* column : columns) row.push_back(column->cell(*point->record).text);
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string indented(const std::string& lines) {
  std::string text = "  ";
  for (const char c : lines) {
    text += c;
    if (c == '\n') text += "  ";
  }
  text.resize(text.size() - 2);  // after the last line
  return text;
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
    if (!section.table.columns.empty()) text += indented(table_text(section.table));
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

#include "report/console/console.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "report/figures/ranking.hpp"
#include "report/summary/comparison_columns.hpp"
#include "report/summary/notes.hpp"
#include "report/text/table.hpp"

namespace windtunnel {
namespace {

std::vector<const ComparedPoint*> ranked_points(const Comparison& comparison) {
  std::vector<const ComparedPoint*> points;
  for (const ComparedPoint& point : comparison.points) {
    if (point.record) points.push_back(&point);
  }
  const Figure& by = ranking_figure(comparison);
  std::vector<Standing> standings;
  for (const ComparedPoint* point : points) {
    standings.push_back({point->record->memory_excess.empty(),
                         worth_of(by.better, number_of(by.of(*point->record)))});
  }
  std::vector<const ComparedPoint*> ranked;
  for (const size_t i : best_first(standings)) ranked.push_back(points[i]);
  return ranked;
}

// What the console shows of iteration_columns(); whether a point fits only where one does not.
std::vector<const Figure*> iteration_figures(const std::vector<const ComparedPoint*>& points) {
  std::vector<const Figure*> shown = {&figure("iteration.time_s"), &figure("iteration.mfu"),
                                      &figure("iteration.bubble.idle"),
                                      &figure("iteration.memory_bytes.peak")};
  const bool all_fit = std::ranges::all_of(
      points, [](const ComparedPoint* point) { return point->record->memory_excess.empty(); });
  if (!all_fit) shown.push_back(&figure("iteration.memory_bytes.fits"));
  return shown;
}

// With the interval of a mean over trials.
std::string figure_text(const Figure& column, const Record& record) {
  const FigureValue value = column.of(record);
  const auto* estimate = std::get_if<Estimate>(&value);
  return estimate == nullptr ? column.text(record) : estimate_text(column.unit, *estimate);
}

// What the figures of the table are sure to.
std::string certainty_text(const Comparison& comparison, const ConsoleStyle& style) {
  std::set<std::string> models;
  std::set<int> trials;
  for (const ComparedPoint& point : comparison.points) {
    if (!point.record) continue;
    if (point.record->iteration.error.value > 0) models.insert(cost_models_text(*point.record));
    if (point.record->campaign) trials.insert(point.record->campaign->trials);
  }
  std::string text;
  if (!trials.empty()) {
    text += fmt::format("  in brackets  {} of the mean over {} trials\n", kIntervalTitle,
                        fmt::join(trials, " or "));
  }
  for (const std::string& model : models) text += fmt::format("  cost models  {}\n", model);
  return text.empty() ? "" : fmt::format("\n{}\n{}", style.bold(kCertaintyTitle), text);
}

TextTable comparison_table(const Comparison& comparison) {
  const std::vector<const ComparedPoint*> points = ranked_points(comparison);
  TextTable table;
  if (points.empty()) return table;
  const auto reference = std::ranges::find_if(
      comparison.points, [](const ComparedPoint& point) { return !!point.record; });
  std::vector<const Figure*> columns = further_columns(comparison);
  const bool with_iteration = !varies_protection_only(comparison);
  if (with_iteration) {
    const std::vector<const Figure*> shown = iteration_figures(points);
    columns.insert(columns.begin(), shown.begin(), shown.end());
  }
  for (const auto& [key, value] : points.front()->set) table.columns.push_back({key});
  for (const Figure* column : columns) table.columns.push_back({column->title, Align::right});
  const auto after_time = static_cast<std::ptrdiff_t>(points.front()->set.size()) + 1;
  if (with_iteration) {
    table.columns.insert(table.columns.begin() + after_time, {"speed-up", Align::right});
  }
  for (const ComparedPoint* point : points) {
    std::vector<std::string> row;
    for (const auto& [key, value] : point->set) row.push_back(value);
    for (const Figure* column : columns) row.push_back(figure_text(*column, *point->record));
    if (with_iteration) {
      row.insert(row.begin() + after_time,
                 fmt::format("{:.3f}x", speed_up(*reference->record, *point->record)));
    }
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
  std::string text = fmt::format("{}\n{}\n", style.bold(summary.title), summary.subtitle);
  size_t width = 0;
  for (const SummarySection& section : summary.sections) {
    for (const SummaryRow& row : section.rows) width = std::max(width, row.label.size());
  }
  for (const SummarySection& section : summary.sections) {
    text += fmt::format("\n{}\n", style.bold(section.title));
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
  if (!table.rows.empty()) text += table_text(table) + certainty_text(comparison, style);
  bool first = true;
  for (const ComparedPoint& point : comparison.points) {
    if (point.record) continue;
    if (first) text += fmt::format("{}{}\n", text.empty() ? "" : "\n", style.bold("Infeasible"));
    text += fmt::format("  {}: {}\n", set_text(point.set), point.reason);
    first = false;
  }
  const std::vector<Note> notes = notes_of(comparison);
  if (!notes.empty()) text += fmt::format("\n{}\n", style.bold(kNotesTitle));
  for (const Note& note : notes) text += fmt::format("  {}: {}\n", note.key, note_text(note));
  return text;
}

TextTable explain_table(const std::vector<ResolvedValue>& values) {
  TextTable table{{{"key"}, {"value"}, {"from"}, {"origin"}, {"source"}}, {}};
  for (const ResolvedValue& value : values) {
    const char* from = value.is_found ? "search" : value.is_default ? "default" : "scenario";
    table.rows.push_back({value.key, value.value, from, to_string(value.origin), value.source});
  }
  return table;
}

std::string set_text(const Overrides& set) {
  std::string text;
  for (const auto& [key, value] : set) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, value);
  }
  return text.empty() ? "as given" : text;
}

}  // namespace windtunnel

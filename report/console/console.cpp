#include "report/console/console.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "models/base/wrapped.hpp"
#include "report/figures/figures.hpp"
#include "report/json/json.hpp"
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

// The console's subset of iteration_columns(). Whether points fit is shown only if one does not.
std::vector<const Figure*> iteration_figures(const std::vector<const ComparedPoint*>& points) {
  std::vector<const Record*> records;
  for (const ComparedPoint* point : points) records.push_back(&*point->record);
  std::vector<const Figure*> shown = mfu_columns(records);
  shown.insert(shown.begin(), &figure("iteration.time_s"));
  shown.push_back(&figure("iteration.bubble.idle"));
  shown.push_back(&figure("iteration.memory_bytes.peak"));
  const bool all_fit = std::ranges::all_of(
      points, [](const ComparedPoint* point) { return point->record->memory_excess.empty(); });
  if (!all_fit) shown.push_back(&figure("iteration.memory_bytes.fits"));
  return shown;
}

// The value, with the interval of a mean over trials.
std::string figure_text(const Figure& column, const Record& record) {
  const FigureValue value = column.of(record);
  const auto* estimate = std::get_if<Estimate>(&value);
  return estimate == nullptr ? column.text(record) : estimate_text(column.unit, *estimate);
}

std::string speed_up_text(const Comparison& comparison, const Record& reference,
                          const ComparedPoint& point) {
  std::string text = fmt::format("{:.3f}x", speed_up(reference, *point.record));
  if (const auto judged = judged_speed_up(comparison, point)) {
    text += fmt::format(" ({:.2f}x .. {:.2f}x)", judged->low, judged->high);
  }
  return text;
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
    table.columns.insert(table.columns.begin() + after_time,
                         {speed_up_title(comparison), Align::right});
  }
  for (const ComparedPoint* point : points) {
    std::vector<std::string> row;
    for (const auto& [key, value] : point->set) row.push_back(value);
    for (const Figure* column : columns) row.push_back(figure_text(*column, *point->record));
    if (with_iteration) {
      row.insert(row.begin() + after_time, speed_up_text(comparison, *reference->record, *point));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

// Whether a name in the scenario implies the value; other defaults have no evidence worth showing.
bool is_of_library(const ResolvedValue& value) {
  const auto below = [&](std::string_view path) { return value.key.starts_with(path); };
  const bool has_library = below("model.") || below("cluster.") || below("calibration.");
  return value.is_default && has_library && value.source != "default";
}

// Rounds "6.13539094648 min" to "6.135 min"; whole numbers and words do not change.
std::string rounded_text(const std::string& value) {
  const size_t end = std::min(value.find(' '), value.size());
  double number = 0;
  const auto [read, error] = std::from_chars(value.data(), value.data() + end, number);
  const bool whole = value.substr(0, end).find_first_of(".e") == std::string::npos;
  if (error != std::errc() || read != value.data() + end || whole) return value;
  const std::string text =
      std::abs(number) < 1e4 ? fmt::format("{:.4g}", number) : fmt::format("{:.0f}", number);
  return text + value.substr(end);
}

constexpr size_t kIndent = 2;
constexpr size_t kLeastValue = 12;  // characters of a wrapped value

std::string indented(const std::string& lines) {
  const std::string blanks(kIndent, ' ');
  std::string text = blanks;
  for (const char c : lines) {
    text += c;
    if (c == '\n') text += blanks;
  }
  text.resize(text.size() - kIndent);  // removes the indent after the last line
  return text;
}

// Characters of a line in a table below a title; 0: no limit.
size_t section_width(const ConsoleStyle& style) {
  return style.width > kIndent ? style.width - kIndent : 0;
}

// The sections that the console shows: without charts, and with the figures in their place.
std::vector<SummarySection> console_sections(const Answer& answer) {
  std::vector<SummarySection> sections;
  for (SummarySection section : answer.sections) {
    if (section.where == ShownOn::page || section.chart) continue;
    if (section.with_figures) {
      section.rows.insert(section.rows.begin(), answer.figures.begin(), answer.figures.end());
    }
    std::erase_if(section.rows, [](const SummaryRow& row) { return row.where == ShownOn::page; });
    sections.push_back(std::move(section));
  }
  return sections;
}

// Label and value; a value too long for the line continues below its beginning.
std::string row_text(const SummaryRow& row, size_t label_width, size_t width) {
  const size_t before = kIndent + label_width + 2;
  std::string text = fmt::format("  {:<{}}  ", row.label, label_width);
  const std::string value = with_detail(row);
  // wrapped_lines() breaks commands so that they can still be copied.
  const bool in_lines = value.find('\n') != std::string::npos || value.starts_with("windtunnel ");
  if (in_lines || width < before + kLeastValue) return text + value + "\n";
  bool first = true;
  for (const std::string& line : wrapped(value, width - before)) {
    text += (first ? "" : std::string(before, ' ')) + line + "\n";
    first = false;
  }
  return text;
}

}  // namespace

std::string answer_text(const Answer& answer, const ConsoleStyle& style) {
  std::string text;
  if (!answer.title.empty()) {
    text += style.bold(answer.title) + "\n";
  }
  if (!answer.subtitle.empty()) {
    const size_t line = style.width > 0 ? style.width : answer.subtitle.size();
    for (const std::string& part : wrapped(answer.subtitle, line)) text += part + "\n";
  }
  const std::vector<SummarySection> sections = console_sections(answer);
  size_t width = 0;
  for (const SummarySection& section : sections) {
    for (const SummaryRow& row : section.rows) width = std::max(width, row.label.size());
  }
  for (const SummarySection& section : sections) {
    if (!style.notes && section.title == kNotesTitle) continue;
    if (!text.empty()) text += "\n";
    const bool titled = !section.title.empty();
    if (titled) text += style.bold(section.title) + "\n";
    if (!section.table.columns.empty()) {
      text += titled ? indented(table_text(section.table, section_width(style)))
                     : table_text(section.table, style.width);
    }
    for (const SummaryRow& row : section.rows) {
      text += row_text(row, width, style.width);
    }
  }
  for (const std::string& warning : answer.warnings)
    text += fmt::format("\nwarning: {}\n", warning);
  return text;
}

Answer compare_answer(const Comparison& comparison, bool with_timing) {
  Answer answer{
      .title = {},
      .subtitle = {},
      .figures = {},
      .sections = {},
      .kind = "compare",
      .document = [&comparison, with_timing] { return compare_document(comparison, with_timing); }};
  std::vector<SummarySection>& sections = answer.sections;
  TextTable table = comparison_table(comparison);
  const bool any_ran = !table.rows.empty();
  if (any_ran) sections.push_back({"", {}, std::move(table)});
  if (std::optional<SummarySection> parts = step_parts(comparison)) {
    sections.push_back(*std::move(parts));
  }
  if (any_ran) sections.push_back({kCertaintyTitle, certainty_rows(comparison, "in brackets")});
  SummarySection infeasible{"Infeasible", {}};
  for (const ComparedPoint& point : comparison.points) {
    if (!point.record) infeasible.rows.push_back({set_text(point.set), point.reason});
  }
  sections.push_back(std::move(infeasible));
  sections.push_back({kNotesTitle, note_rows(notes_of(comparison))});
  std::erase_if(sections, [](const SummarySection& section) {
    return section.rows.empty() && section.table.columns.empty();
  });
  return answer;
}

TextTable explain_table(const std::vector<ResolvedValue>& values) {
  return table_of(
      "key | value | from | origin | source", values, [&](const ResolvedValue& value) -> TableRow {
        const char* from = value.is_found ? "search" : value.is_default ? "default" : "scenario";
        return {value.key, value.value, from, to_string(value.origin), value.source};
      });
}

std::string explain_text(const std::vector<ResolvedValue>& values, const ConsoleStyle& style) {
  struct Part {
    std::string_view title;
    bool (*holds)(const ResolvedValue& value);
    TextTable table = titled_table("key | value | origin | source");
  };
  Part parts[] = {
      {"Given by the scenario", [](const ResolvedValue& value) { return !value.is_default; }},
      {"From the library", is_of_library},
      {"Defaults that the scenario does not change",
       [](const ResolvedValue& /*value*/) { return true; }}};
  for (const ResolvedValue& value : values) {
    Part& part = *std::ranges::find_if(parts, [&](const Part& each) { return each.holds(value); });
    part.table.rows.push_back(
        {value.key, rounded_text(value.value), to_string(value.origin), value.source});
  }
  std::string text;
  for (const Part& part : parts) {
    if (part.table.rows.empty()) continue;
    text += fmt::format("{}\n{}\n",
                        style.bold(fmt::format("{} ({} of {} values)", part.title,
                                               part.table.rows.size(), values.size())),
                        table_text(part.table, style.width));
  }
  return text;
}

std::string set_text(const Overrides& set) {
  std::string text;
  for (const auto& [key, value] : set) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, value);
  }
  return text.empty() ? "as given" : text;
}

}  // namespace windtunnel

#include "validate/documents/kind_validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/base/units.hpp"
#include "validate/documents/validation.hpp"
#include "validate/documents/validation_rows.hpp"

namespace windtunnel {
namespace {

constexpr double kMiss = 0.2;

// "suspect_load_s" has the unit "s"; "faults_per_day" has none.
std::string unit_of(const std::string& metric) {
  for (const char* unit : {"s", "h", "W"}) {
    if (metric.ends_with(std::string("_") + unit)) return unit;
  }
  return "";
}
// "suspect_load_s" becomes "suspect load".
std::string figure_name(const std::string& metric) {
  const std::string unit = unit_of(metric);
  std::string name = metric.substr(0, metric.size() - (unit.empty() ? 0 : unit.size() + 1));
  std::ranges::replace(name, '_', ' ');
  return name;
}
std::string number_cell(const ValidationRow& row, double value) {
  const std::string unit = unit_of(row.metric);
  if (unit == "s" && value < 0.1) return format_seconds(value);
  const std::string number =
      value < 1000 ? fmt::format("{:.3g}", value) : fmt::format("{:.0f}", value);
  return unit.empty() ? number : number + " " + unit;
}

template <class RowOrFamily>
std::string figure_cell(const RowOrFamily& of) {
  return figure_name(of.metric);
}

// The error of the kind's one simpler rule.
std::string family_rule(const ValidationFamily& family) {
  return family.baselines.empty() ? "-" : percent(family.baselines.begin()->second);
}
std::string row_rule(const ValidationRow& row) {
  return row.baselines.empty() ? "-" : number_cell(row, row.baselines.begin()->second);
}

std::string interval_cell(const ValidationRow& row) {
  if (row.low == row.high) return "-";
  return number_cell(row, row.low) + " .. " + number_cell(row, row.high);
}

TextTable figures_table(const Rows& rows) {
  return rows_table(rows, number_cell,
                    {{{"event"}, figure_cell<ValidationRow>},
                     {{"interval"}, interval_cell},
                     {{"rule"}, row_rule}});
}

Rows in_order(const std::vector<ValidationRow>& rows) {
  Rows found;
  for (const ValidationRow& row : rows) found.push_back(&row);
  return found;
}

}  // namespace

Document kind_document(std::string_view form, const ValidationReport& report) {
  Document document = rows_document(report);
  document.form = form;
  document["rows_are"] = "rows";
  document["off"] = figures_table(worst_first(report, kMiss));
  document["page_families"] = families_table(
      report, {}, {{{"event"}, figure_cell<ValidationFamily>}, {{"rule"}, family_rule}});
  document["rows_judged"] = figures_table(in_order(report.rows));
  document["rows_fitted"] = figures_table(in_order(report.fitted));
  return document;
}

}  // namespace windtunnel

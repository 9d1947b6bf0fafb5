#include "validate/documents/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/base/units.hpp"
#include "validate/documents/validation_rows.hpp"

namespace windtunnel {
namespace {

Json optional_json(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json baselines_json(const std::map<std::string, double>& baselines) {
  Json object = Json::object();
  for (const auto& [name, value] : baselines) object[name] = value;
  return object;
}

Json row_json(const ValidationRow& row) {
  return {{"id", row.id},
          {"family", row.family},
          {"label", row.label},
          {"baselines", baselines_json(row.baselines)},
          {"metric", row.metric},
          {"measured", row.measured},
          {"predicted", row.predicted},
          {"low", row.low},
          {"high", row.high},
          {"origin", to_string(row.origin)},
          {"fitted_by", row.fitted_by}};
}

Json labels_json(const std::optional<MemoryLabels>& labels) {
  if (!labels) return nullptr;
  return {{"right", labels->right}, {"missed", labels->missed}, {"false", labels->false_alarms}};
}

Json regret_json(const std::optional<GroupRanking>& ranking) {
  if (!ranking) return nullptr;
  return {{"median", ranking->median_regret}, {"worst", ranking->worst_regret}};
}

Json family_json(const ValidationFamily& family) {
  const auto judged = [&](const Json& value) { return family.rows > 0 ? value : Json(nullptr); };
  const GroupRanking ranking = family.ranking.value_or(GroupRanking{});
  return {{"name", family.name},
          {"metric", family.metric},
          {"rows", family.rows},
          {"fitted", family.fitted},
          {"fitted_mape", family.fitted > 0 ? Json(family.fitted_mape) : Json(nullptr)},
          {"baselines", baselines_json(family.baselines)},
          {"oom", labels_json(family.out_of_memory)},
          {"mape", judged(family.mape)},
          {"median_ape", judged(family.median_ape)},
          {"p90_ape", judged(family.p90_ape)},
          {"worst", judged(row_json(family.worst))},
          {"kendall_tau", optional_json(family.kendall_tau)},
          {"groups", ranking.groups},
          {"group_pairs", ranking.pairs},
          {"group_kendall_tau", optional_json(ranking.kendall_tau)},
          {"layout_regret", regret_json(family.ranking)},
          {"coverage90", optional_json(family.coverage90)},
          {"assumed", family.assumed}};
}

// Formats errors from 1e-16 to several times the measured value.
std::string error_text(double share) {
  if (share == 0) return "0";
  return share < 1e-4 ? fmt::format("{:.1e}", share) : fmt::format("{:.4f}", share);
}

FamilyColumn error_column(const char* title, double ValidationFamily::*error) {
  return {{title, Align::right},
          [error](const ValidationFamily& family) { return error_text(family.*error); }};
}

const std::vector<FamilyColumn>& family_columns() {
  static const std::vector<FamilyColumn> columns = {
      {{"family"}, &ValidationFamily::name},
      {{"metric"}, &ValidationFamily::metric},
      {{"rows", Align::right}, [](const auto& family) { return std::to_string(family.rows); }},
      error_column("MAPE", &ValidationFamily::mape),
      error_column("median APE", &ValidationFamily::median_ape),
      error_column("p90 APE", &ValidationFamily::p90_ape),
      {{"worst APE", Align::right},
       [](const auto& family) { return error_text(family.worst.relative_error()); }},
      {{"worst difference", Align::right},
       [](const auto& family) { return fmt::format("{:.2g}", family.worst_difference); }},
      {{"rank correlation", Align::right},
       [](const auto& family) {
         return family.kendall_tau ? fmt::format("{:.3f}", *family.kendall_tau) : "-";
       }},
      {{"in 90 % interval", Align::right},
       [](const auto& family) {
         return family.coverage90 ? format_percent(*family.coverage90) : "-";
       }},
      {{"worst row"}, [](const auto& family) { return family.worst.id; }}};
  return columns;
}

// A note that families of one kind share is printed with the first of them.
TextTable remarks_table(const ValidationReport& report) {
  TextTable remarks = titled_table("family | metric | note | rule | mape");
  std::string last_note;
  for (const ValidationFamily& family : report.families) {
    if (!family.note.empty() && family.note != last_note) {
      remarks.rows.push_back({family.name, family.metric, family.note, "", ""});
      last_note = family.note;
    }
    for (const auto& [name, mape] : family.baselines) {
      remarks.rows.push_back({family.name, family.metric, "", name, error_text(mape)});
    }
  }
  return remarks;
}

constexpr double kMiss = 0.2;

// Returns "s" for "suspect_load_s"; "" for "faults_per_day".
std::string unit_of(const std::string& metric) {
  for (const char* unit : {"s", "h", "W"}) {
    if (metric.ends_with(std::string("_") + unit)) return unit;
  }
  return "";
}
// Turns "suspect_load_s" into "suspect load".
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

// Returns the error of the kind's one simpler rule.
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

Json skipped_json(const std::vector<SkippedRow>& rows) {
  Json skipped = Json::array();
  for (const SkippedRow& row : rows) skipped.push_back({{"id", row.id}, {"reason", row.reason}});
  return skipped;
}

Json validation_json(const ValidationReport& report) {
  Json families = Json::array();
  Json rows = Json::array();
  Json fitted = Json::array();
  Json labels = Json::array();
  for (const ValidationFamily& family : report.families) families.push_back(family_json(family));
  for (const ValidationRow& row : report.rows) rows.push_back(row_json(row));
  for (const ValidationRow& row : report.fitted) fitted.push_back(row_json(row));
  for (const MemoryLabel& label : report.labels) {
    labels.push_back({{"id", label.id},
                      {"family", label.family},
                      {"measured", label.measured_out ? "oom" : "fits"},
                      {"predicted", label.predicted_out ? "oom" : "fits"}});
  }
  return {{"families", families},
          {"rows", rows},
          {"fitted", fitted},
          {"labels", labels},
          {"skipped", skipped_json(report.skipped)}};
}

Document rows_document(const ValidationReport& report) {
  Document document = judged_document("rows", report);
  document["families"] = table_of(report.families, family_columns());
  document["remarks"] = remarks_table(report);
  return document;
}

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

#include "report/validation/checkpoint_validation.hpp"

#include <fmt/format.h>

#include <vector>

#include "report/validation/validation.hpp"
#include "report/validation/validation_rows.hpp"

namespace windtunnel {
namespace {

constexpr double kCheckpointMiss = 0.2;
constexpr const char* kRule = "bytes / bandwidth";

std::string seconds_cell(const ValidationRow&, double seconds) {
  return fmt::format("{:.3g} s", seconds);
}

std::string interval_cell(const ValidationRow& row) {
  return row.low == row.high ? "-" : fmt::format("{:.3g} .. {:.3g}", row.low, row.high);
}

template <class RowOrFamily>
std::string event_cell(const RowOrFamily& of) {
  return of.metric == "load_s" ? "load" : of.metric == "stall_s" ? "stall" : "save";
}

TextTable checkpoint_families(const ValidationReport& report) {
  std::vector<FamilyColumn> columns = {
      {{"family"}, &ValidationFamily::name}, {{"event"}, event_cell<ValidationFamily>},
      {{"rows", Align::right}, family_rows}, {{"fitted on", Align::right}, family_fitted},
      {{"MAPE", Align::right}, family_mape}, {{"median", Align::right}, family_median}};
  columns.push_back({{kRule, Align::right}, [](const ValidationFamily& family) {
                       const auto rule = family.baselines.find(kRule);
                       return rule == family.baselines.end() ? "-" : percent(rule->second);
                     }});
  columns.push_back({{"in 90 %", Align::right}, family_coverage});
  return table_of(report.families, columns);
}

TextTable checkpoints_table(const std::vector<ValidationRow>& rows) {
  std::vector<RowColumn> columns = {{{"row"}, row_place},
                                    {{"what"}, &ValidationRow::label},
                                    {{"event"}, event_cell<ValidationRow>}};
  for (const RowColumn& value : value_columns(seconds_cell)) columns.push_back(value);
  columns.push_back({{"error", Align::right}, signed_error});
  columns.push_back({{"90 %", Align::right}, interval_cell});
  columns.push_back({{kRule, Align::right}, [](const ValidationRow& row) {
                       const auto rule = row.baselines.find(kRule);
                       return rule == row.baselines.end() ? "-" : seconds_cell(row, rule->second);
                     }});
  return table_of(rows, columns);
}

TextTable far_off(const ValidationReport& report) {
  std::vector<RowColumn> columns = {{{"off by more than 20 %"}, row_place},
                                    {{"event"}, event_cell<ValidationRow>}};
  for (const RowColumn& value : value_columns(seconds_cell)) columns.push_back(value);
  columns.push_back({{"error", Align::right}, signed_error});
  columns.push_back({{.title = "what", .most = 60}, &ValidationRow::label});
  return table_of(worst_first(report, kCheckpointMiss), columns);
}

}  // namespace

Document checkpoints_document(const ValidationReport& report) {
  Document document = rows_document(report);
  document.form = "checkpoints";
  document["off"] = far_off(report);
  document["page_families"] = checkpoint_families(report);
  document["rows_judged"] = checkpoints_table(report.rows);
  document["rows_fitted"] = checkpoints_table(report.fitted);
  return document;
}

}  // namespace windtunnel

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

template <class RowOrFamily>
std::string event_cell(const RowOrFamily& of) {
  return of.metric == "load_s" ? "load" : of.metric == "stall_s" ? "stall" : "save";
}

TextTable checkpoint_families(const ValidationReport& report) {
  return families_table(report, {},
                        {{{"event"}, event_cell<ValidationFamily>},
                         {{"rule"}, [](const auto& family) {
                            const auto rule = family.baselines.find(kRule);
                            return rule == family.baselines.end() ? "-" : percent(rule->second);
                          }}});
}

TextTable checkpoints_table(const Rows& rows) {
  const auto interval = [](const ValidationRow& row) {
    return row.low == row.high ? "-" : fmt::format("{:.3g} .. {:.3g}", row.low, row.high);
  };
  const auto rule = [](const ValidationRow& row) {
    const auto found = row.baselines.find(kRule);
    return found == row.baselines.end() ? "-" : seconds_cell(row, found->second);
  };
  return rows_table(
      rows, seconds_cell,
      {{{"event"}, event_cell<ValidationRow>}, {{"interval"}, interval}, {{"rule"}, rule}});
}

Rows in_order(const std::vector<ValidationRow>& rows) {
  Rows found;
  for (const ValidationRow& row : rows) found.push_back(&row);
  return found;
}

}  // namespace

Document checkpoints_document(const ValidationReport& report) {
  Document document = rows_document(report);
  document.form = "checkpoints";
  document["off"] = checkpoints_table(worst_first(report, kCheckpointMiss));
  document["page_families"] = checkpoint_families(report);
  document["rows_judged"] = checkpoints_table(in_order(report.rows));
  document["rows_fitted"] = checkpoints_table(in_order(report.fitted));
  return document;
}

}  // namespace windtunnel

#include "validate/accuracy/kinds/measured_kind.hpp"

#include <set>

#include "sim/study/simulate.hpp"
#include "validate/accuracy/kinds/kinds.hpp"
#include "validate/accuracy/rows/row_filter.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

const std::vector<MeasuredKind>& measured_kinds() {
  static const std::vector<MeasuredKind> kinds = {checkpoint_kind(), dispatch_kind(),
                                                  rollout_kind(), power_kind(), failure_kind()};
  return kinds;
}

namespace {

constexpr const char* kRowScenario = "scenario of a row";

// The place of an Error from the row's scenario or the library is not in the row's file.
SkippedRow not_predicted(const std::string& id, const Error& error) {
  if (error.where().file == kRowScenario) return {id, std::string(error.text())};
  return skipped_row(id, error);
}

}  // namespace

Case case_of_row(const std::string& scenario) {
  return parse_case(scenario, kRowScenario);
}

Record simulate_row(const std::string& scenario) {
  return simulate(case_of_row(scenario),
                  {.threads = 1, .allow_oom = true, .depth = StudyDepth::campaign});
}

void RowJudge::judge(const CsvTable& table, std::size_t table_row,
                     const std::function<std::vector<PredictedRow>()>& predict) {
  const std::string id = table.id(table_row);
  const bool fitted_on = is_among(fitted_on_, table, table_row);
  std::set<std::string> told;  // a row with several figures counts an assumption once
  try {
    for (PredictedRow& each : predict()) {
      ValidationRow& row = each.row;
      row.id = id;
      if (row.low == row.high) row.low = row.high = row.predicted;
      if (!each.family_note.empty()) notes_[row.family] = each.family_note;
      for (const std::string& assumed : each.assumed) {
        if (told.insert(assumed).second) ++assumed_[row.family][assumed];
      }
      (fitted_on || each.fitted ? report_.fitted : report_.rows).push_back(std::move(row));
    }
  } catch (const Error& error) {
    report_.skipped.push_back(not_predicted(id, error));
  }
}

ValidationReport RowJudge::report() {
  add_left_out_intervals(report_);
  summarise_families(report_, notes_);
  for (ValidationFamily& family : report_.families) family.assumed = assumed_[family.name];
  return std::move(report_);
}

}  // namespace windtunnel

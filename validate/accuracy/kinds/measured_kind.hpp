// Kinds of measured rows in which each row is one job with one or more figures. A kind is a file in
// this folder with the columns of its rows and, for a row, the job, its predicted figures and a
// simpler rule. The driver below filters, predicts, lists rows that cannot be predicted, adds
// intervals and summarises. docs/reference/how-to-add.md explains how to add a kind.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/base/origin.hpp"
#include "scenarios/language/case.hpp"
#include "traces/rows/row_fields.hpp"
#include "validate/accuracy/rows/row_filter.hpp"
#include "validate/accuracy/rows/row_selection.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

struct KindOptions {
  std::vector<std::string> files;
  std::optional<RowFilter> where;  // rows to judge
};

struct MeasuredKind {
  std::string name;                  // as in `windtunnel validate NAME`; also the name of its form
  std::string title;                 // title on pages
  std::string help;                  // one line
  std::vector<std::string> columns;  // columns by which a file of this kind is recognised
  std::string where;                 // an example of a filter
  // Throws Error for a file that cannot be read, or a filter that does not fit it.
  ValidationReport (*judge)(const KindOptions& options);
};

const std::vector<MeasuredKind>& measured_kinds();

// The case of a row's scenario. Throws Error with a place in the scenario, which RowJudge removes.
Case case_of_row(const std::string& scenario);

// A prediction for a row. The driver sets the id and, if `low` equals `high`, an interval from the
// errors of the other families.
struct PredictedRow {
  ValidationRow row;
  std::vector<std::string> assumed = {};  // assumptions that the source does not state
  std::string family_note = {};           // what a reader must know about all rows of its family
  bool fitted = false;                    // a number was fitted on it: listed, not judged
};

// Collects the results of rows, in their order.
class RowJudge {
 public:
  explicit RowJudge(std::vector<FittedOn> fitted_on) : fitted_on_(std::move(fitted_on)) {}

  std::vector<SkippedRow>& skipped() { return report_.skipped; }
  // If `predict` throws Error, the row is not predicted, with that reason.
  void judge(const CsvTable& table, std::size_t table_row,
             const std::function<std::vector<PredictedRow>()>& predict);
  ValidationReport report();

 private:
  std::vector<FittedOn> fitted_on_;
  ValidationReport report_;
  std::map<std::string, std::string> notes_;
  std::map<std::string, std::map<std::string, int>> assumed_;  // [family]
};

// `predict(row)` throws Error with the reason for not predicting the row. Rows in `fitted_on` are
// listed, not judged.
template <class Row, class Predict>
ValidationReport judge_rows(const std::vector<RowFile<Row>>& files,
                            const std::optional<RowFilter>& where, const Predict& predict,
                            const std::vector<FittedOn>& fitted_on = {}) {
  RowJudge judge(fitted_on);
  for (const auto& row : select_rows(files, {.where = where}, judge.skipped())) {
    judge.judge(row.file->table, row.run->table_row, [&] { return predict(*row.run); });
  }
  return judge.report();
}

// The same for files whose rows have these columns.
template <class Row, class Fields, class Predict>
ValidationReport judge_files(const KindOptions& options, const Fields& fields,
                             const Predict& predict, const std::vector<FittedOn>& fitted_on = {}) {
  std::vector<RowFile<Row>> files;
  for (const std::string& path : options.files) {
    files.push_back(parse_fields<Row>(read_file(path), path, fields));
  }
  return judge_rows(files, options.where, predict, fitted_on);
}

}  // namespace windtunnel

// Kinds of measured rows of which each is one job with a figure or a few. A kind is a file of this
// folder: the columns of its rows, and of a row the job, what is predicted for it and what a
// simpler rule would say. The driver below does the rest: it filters, predicts, lists what it
// cannot predict, gives intervals and sums up. How one is added: docs/reference/how-to-add.md.
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
  std::optional<RowFilter> where;  // the rows that are judged
};

struct MeasuredKind {
  std::string name;                  // as in `windtunnel validate NAME`; that of its form
  std::string title;                 // what a page calls such rows
  std::string help;                  // a line
  std::vector<std::string> columns;  // that tell a file of them
  std::string where;                 // an example of a filter
  // Throws Error for a file that cannot be read and for a filter that does not fit it.
  ValidationReport (*judge)(const KindOptions& options);
};

const std::vector<MeasuredKind>& measured_kinds();

// The case of the scenario that a row stands for. Throws Error with a place in the scenario, which
// RowJudge leaves out.
Case case_of_row(const std::string& scenario);

// What is predicted of a row. The driver sets the id, and, where `low` and `high` are equal, an
// interval as wide as the other families were off.
struct PredictedRow {
  ValidationRow row;
  std::vector<std::string> assumed = {};  // that the source does not say
  std::string family_note = {};           // what a reader must know of all rows of its family
  bool fitted = false;                    // some number was fitted on it: stated, not judged
};

// Collects what becomes of rows, in their order.
class RowJudge {
 public:
  explicit RowJudge(std::vector<FittedOn> fitted_on) : fitted_on_(std::move(fitted_on)) {}

  std::vector<SkippedRow>& skipped() { return report_.skipped; }
  // An Error that `predict` throws says why the row is not predicted.
  void judge(const CsvTable& table, std::size_t table_row,
             const std::function<std::vector<PredictedRow>()>& predict);
  ValidationReport report();

 private:
  std::vector<FittedOn> fitted_on_;
  ValidationReport report_;
  std::map<std::string, std::string> notes_;
  std::map<std::string, std::map<std::string, int>> assumed_;  // by family
};

// `predict(row)` throws Error with the reason not to. Rows among `fitted_on` are stated, not
// judged.
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

// The same of files whose rows have these columns.
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

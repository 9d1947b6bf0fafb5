// Building blocks of all reports on predicted rows: columns of families and of rows, and the tables
// that the forms of validate/documents/forms arrange.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "report/text/table.hpp"
#include "validate/accuracy/rows/validation_report.hpp"
#include "validate/documents/form_document.hpp"

namespace windtunnel {

template <class Row>
struct Shown {
  Column column;
  std::function<std::string(const Row&)> cell;
};
using FamilyColumn = Shown<ValidationFamily>;
using RowColumn = Shown<ValidationRow>;

// `rows` contains rows or pointers to them.
template <class Row, class Rows>
TextTable table_of(const Rows& rows, const std::vector<Shown<Row>>& shown) {
  TextTable table;
  for (const Shown<Row>& each : shown) table.columns.push_back(each.column);
  for (const auto& row : rows) {
    std::vector<std::string>& cells = table.rows.emplace_back();
    for (const Shown<Row>& each : shown) {
      if constexpr (std::is_pointer_v<std::decay_t<decltype(row)>>) {
        cells.push_back(each.cell(*row));
      } else {
        cells.push_back(each.cell(row));
      }
    }
  }
  return table;
}

// All columns about families: "family", "metric", "rows" (judged ones), "fitted", "mape", "median",
// "p90", "worst", "worst row", "tau", "group tau", "coverage", "best rule" ("12% (its name)"),
// "fitted mape", and one for each simpler rule, which the console abbreviates to a letter. "-": no
// value.
using FamilyFilter = std::function<bool(const ValidationFamily&)>;
TextTable families_table(const ValidationReport& report, const FamilyFilter& wanted = {},
                         const std::vector<FamilyColumn>& more = {});

std::string signed_error(const ValidationRow& row);  // relative error

// All columns about rows are "row" (its place without folders), "family", "what", "note",
// "measured", "predicted" (in the form of `text`) and "error".
using Rows = std::vector<const ValidationRow*>;
TextTable rows_table(const Rows& rows, std::string (*text)(const ValidationRow&, double),
                     const std::vector<RowColumn>& more = {});

// Returns rows by decreasing relative error, ties in the order of the rows: at most `most` with an
// error above `more_than`.
Rows worst_first(const ValidationReport& report, double more_than = -1,
                 std::size_t most = static_cast<std::size_t>(-1));

// Lists the reasons why rows were not used, the most frequent first, with their number and the
// place of the first row. Columns are "reason", "rows" and "first".
TextTable reasons_table(const ValidationReport& report);

// Parts that every form can use: "families", which is families_table(); the numbers of "judged",
// "fitted", "labels" and "skipped" rows; and these tables.
//   "rules": the letters of simpler rules, columns "letter" and "rule"
//   "rule_names": the same rules in one line
//   "reasons": reasons_table(), and "reason_counts" the same without places
//   "not_used": each row that was not used, "row" and "reason"
//   "assumed": assumptions and the number of rows with them, "family" and "assumed"
//   "notes": families with a note, "family", "metric" and "note"
Document judged_document(std::string_view form, const ValidationReport& report);

// Adds "misses", rows with an error above `miss_above`, their number, and that bound.
void add_misses(Document& document, TextTable misses, double miss_above);

// Returns "runs.csv:12" for "/data/runs.csv:12".
std::string without_folder(const std::string& path);

// Returns the simpler rule with the smallest error of a family, and the error. The noise floor is
// not a rule, because it uses a point's other rows.
std::optional<std::pair<std::string, double>> best_rule(const ValidationFamily& family);

// Returns "0.71"; "-" without a value.
std::string tau_text(const std::optional<double>& tau);

// Returns "8.1%" or "12%", with one decimal below 10 %; ">9999%" above 10,000 %.
std::string percent(double share);

}  // namespace windtunnel

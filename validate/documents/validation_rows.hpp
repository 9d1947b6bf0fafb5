// What all that is told of predicted rows is made of: columns of families and of rows, each a title
// and what stands below it, and the tables that the forms of validate/documents/forms put in order.
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

// `rows` are rows, or pointers to them.
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

// All that is told of families: columns "family", "metric", "rows" (judged ones), "fitted", "mape",
// "median", "p90", "worst", "worst row", "tau", "group tau", "coverage", "best rule" ("12% (its
// name)"), "fitted mape", and one for each simpler rule, of which the console has room for a
// letter. "-": there is none.
using FamilyFilter = std::function<bool(const ValidationFamily&)>;
TextTable families_table(const ValidationReport& report, const FamilyFilter& wanted = {},
                         const std::vector<FamilyColumn>& more = {});

std::string signed_error(const ValidationRow& row);  // the relative one

// All that is told of rows: columns "row" (its place without folders), "family", "what", "note",
// "measured", "predicted" (as `text` writes them) and "error".
using Rows = std::vector<const ValidationRow*>;
TextTable rows_table(const Rows& rows, std::string (*text)(const ValidationRow&, double),
                     const std::vector<RowColumn>& more = {});

// The largest relative errors first, ties in the order of the rows: those above `more_than`, `most`
// of them.
Rows worst_first(const ValidationReport& report, double more_than = -1,
                 std::size_t most = static_cast<std::size_t>(-1));

// Why rows were not used, how many for each reason and the place of the first of them; most first.
// Columns "reason", "rows" and "first".
TextTable reasons_table(const ValidationReport& report);

// What every form can say of a report: "families", which is families_table; how many are "judged",
// "fitted", "labels" and "skipped"; and these tables.
//   "rules": what the letters of simpler rules stand for, "letter" and "rule"
//   "rule_names": the same rules in one line
//   "reasons": reasons_table, and "reason_counts" the same without places
//   "not_used": each row that was not used, "row" and "reason"
//   "assumed": what the sources do not say, and in how many rows it was assumed, "family" and
//     "assumed"
//   "notes": families that have something to be known, "family", "metric" and "note"
Document judged_document(std::string_view form, const ValidationReport& report);

// "misses", of rows that are off by more than `miss_above`, how many they are, and that bound.
void add_misses(Document& document, TextTable misses, double miss_above);

// "/data/runs.csv:12" -> "runs.csv:12"
std::string without_folder(const std::string& path);

// Of a family's simpler rules the one of the least error, with it. The noise floor is no rule: it
// is what a point's other rows say of it.
std::optional<std::pair<std::string, double>> best_rule(const ValidationFamily& family);

// "0.71"; "-": there is none.
std::string tau_text(const std::optional<double>& tau);

// "8.1%", "12%": what fits four columns.
std::string percent(double share);

}  // namespace windtunnel

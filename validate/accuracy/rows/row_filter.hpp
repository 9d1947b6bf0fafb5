// Selects rows of a table with an expression over its columns, such as
//   tp<=8 && (pp==1 || note~"after_pp_fix=True")
// `~` holds if the left side contains the right, ignoring case; `==` and `!=` compare numbers if
// both sides are numbers, else texts. A comparison with an empty cell is false.
// docs/reference/rows.md, "Which rows", has the grammar.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "models/calibration/calibration.hpp"
#include "traces/text/csv.hpp"

namespace windtunnel {

class RowFilter {
 public:
  // Throws Error with the column and a caret. `name` is the option's, for messages.
  static RowFilter parse(std::string_view expression, const std::string& name = "expression");

  // Throws Error with the nearest name for a column that the table does not have.
  void check(const CsvTable& table) const;
  // Requires that the table has passed check().
  bool matches(const CsvTable& table, size_t row) const;

 private:
  friend class RowFilterParser;
  enum class Kind { any, all, negation, comparison };
  enum class Operator { equal, unequal, less, less_equal, greater, greater_equal, has, lacks };
  struct Operand {
    bool is_column = false;
    std::string text;  // column name, or the literal
    size_t at = 0;     // in text_
  };
  struct Node {
    Kind kind = Kind::comparison;
    std::vector<size_t> children;  // for any, all, negation: indices in nodes_
    Operator compare = Operator::equal;
    Operand left, right;
  };
  bool holds(size_t node, const CsvTable& table, size_t row) const;

  std::string text_;
  std::string name_;
  std::vector<Node> nodes_;  // children before parents: the root is last
};

// A number of a calibration that was fitted on measured rows (Parameter::fitted_on). If it predicts
// such a row, the row is not blind.
struct FittedNumber {
  std::string name;        // "gemm.efficiency", "network.bandwidth"
  bool of_memory = false;  // predicts bytes instead of seconds
  const Parameter* number = nullptr;
};

// Returns the numbers that state the rows they were fitted on, in the order of
// calibration_fields(), then numbers of the laws. They point into `calibration`.
std::vector<FittedNumber> fitted_numbers(const Calibration& calibration);

// Whether the table has all columns in the expression.
bool has_columns(const RowFilter& filter, const CsvTable& table);

// Returns false if the table lacks a column of `where`. Throws Error if `where` is not an
// expression.
bool is_among(const std::vector<FittedOn>& fitted_on, const CsvTable& table, std::size_t row);

}  // namespace windtunnel

// Which rows of a table: an expression over its columns, as in
//   tp<=8 && (pp==1 || note~"after_pp_fix=True")
// `~` holds when the right side stands somewhere in the left, whatever the case; `==` and `!=`
// compare as numbers where both sides are, else as text. A comparison with an empty cell does not
// hold. The grammar: docs/reference/rows.md, "Which rows".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "traces/text/csv.hpp"

namespace windtunnel {

class RowFilter {
 public:
  // Throws Error with the column and a caret. `name` stands in messages: the option's.
  static RowFilter parse(std::string_view expression, const std::string& name = "expression");

  // Throws Error, with the nearest name, for a column that the table does not have.
  void check(const CsvTable& table) const;
  // The table must have passed check().
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
    std::vector<size_t> children;  // of any, all, negation: in nodes_
    Operator compare = Operator::equal;
    Operand left, right;
  };
  bool holds(size_t node, const CsvTable& table, size_t row) const;

  std::string text_;
  std::string name_;
  std::vector<Node> nodes_;  // children before parents: the root is last
};

}  // namespace windtunnel

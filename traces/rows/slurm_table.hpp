// A table that a command of Slurm prints with -P or -p: a header line of columns and a line a row,
// cells set off by '|'; with -p a '|' closes each line. Slurm knows no quotes, so a cell holds no
// '|'. And the lists of nodes that stand in its cells.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace windtunnel {

class SlurmTable {
 public:
  // A line in cells that remember where they stand.
  struct Row {
    int line = 0;
    std::string_view text;
    std::vector<std::string_view> cells;
  };

  // `command` prints such a table: the way on where a column is missing. Throws Error with
  // file:line:column: a row with more or fewer cells than the header. `text` has to outlive it.
  SlurmTable(std::string_view text, std::string file, std::string command);

  const std::vector<Row>& rows() const { return rows_; }
  std::optional<std::size_t> find(std::string_view column) const;
  // Throws Error where no such column stands in the header.
  std::size_t column(std::string_view name) const;
  [[noreturn]] void fail(const Row& row, std::size_t column, const std::string& what) const;
  // Nothing: there is no such time yet. Throws Error where it is no time.
  std::optional<double> time(const Row& row, std::size_t column) const;
  // The names of a list of nodes; none where none is assigned. Throws Error where it is no list or
  // has more than 200,000 names.
  std::set<std::string> node_names(const Row& row, std::size_t column) const;

 private:
  std::string file_, command_;
  bool closed_ = false;  // a '|' stands behind the last cell, too
  Row header_;
  std::vector<Row> rows_;
};

}  // namespace windtunnel

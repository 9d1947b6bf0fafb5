// Reads a table that a command of Slurm prints with -P or -p: a header and a line per row, with
// cells separated by '|'; with -p each line also ends with a '|'. Slurm does not quote cells, so a
// cell cannot contain a '|'. Also reads the lists of nodes in the cells.
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
  // A line and its cells, which are parts of the table's text, so that errors can name their place.
  struct Row {
    int line = 0;
    std::string_view text;
    std::vector<std::string_view> cells;
  };

  // `command` prints such a table; the error about a missing column suggests it. Throws Error with
  // file:line:column for a row with more or fewer cells than the header. `text` must outlive the
  // table.
  SlurmTable(std::string_view text, std::string file, std::string command);

  const std::vector<Row>& rows() const { return rows_; }
  std::optional<std::size_t> find(std::string_view column) const;
  // Throws Error if the header has no such column.
  std::size_t column(std::string_view name) const;
  [[noreturn]] void fail(const Row& row, std::size_t column, const std::string& what) const;
  // Nothing if there is no such time yet. Throws Error if the cell is not a time.
  std::optional<double> time(const Row& row, std::size_t column) const;
  // The names in a list of nodes; empty if none is assigned. Throws Error if the cell is not a list
  // or has more than 200,000 names.
  std::set<std::string> node_names(const Row& row, std::size_t column) const;

 private:
  std::string file_, command_;
  bool closed_ = false;  // each line also ends with a '|'
  Row header_;
  std::vector<Row> rows_;
};

}  // namespace windtunnel

// A CSV file with a header line, held in memory: the format of all measured rows. RFC 4180 quoting
// ("" inside quotes, line breaks inside quotes), CRLF or LF, an optional byte-order mark; blank
// lines are ignored. Every error names file and line; its column counts cells.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace windtunnel {

// A malformed row: too few or too many cells, or a quote that is not closed.
struct CsvFault {
  int line = 0;
  std::string what;
};

// Tries to repair a row that has more or fewer cells than the header; returns whether the number of
// cells is now right.
using CsvRepair =
    std::function<bool(const std::vector<std::string>& header, std::vector<std::string>& cells)>;

class CsvTable {
 public:
  // Throws Error if there is no header, a row has more or fewer cells than the header, the header
  // repeats a name, or a quote is not closed. `file` is only used in messages. With `faults`, a
  // faulty row is recorded there instead and ends at its first line break, so that an open quote
  // does not swallow the next rows. `repair` is tried first.
  static CsvTable parse(std::string_view text, std::string file,
                        std::vector<CsvFault>* faults = nullptr, const CsvRepair& repair = {});
  // The same from a file; throws Error if it cannot be read.
  static CsvTable read(const std::string& path);

  const std::string& file() const { return file_; }
  const std::vector<std::string>& header() const { return header_; }
  size_t rows() const { return rows_.size(); }

  bool has(std::string_view column) const;
  // Index of a column. Throws Error with the nearest name if it does not exist.
  size_t column(std::string_view name) const;

  const std::string& text(size_t row, size_t column) const;
  // A finite decimal number; surrounding blanks are allowed. Throws Error naming file:line:column.
  double number(size_t row, size_t column) const;
  int integer(size_t row, size_t column) const;
  // Nothing if the cell is empty ("not stated").
  std::optional<double> optional_number(size_t row, size_t column) const;

  int line(size_t row) const { return rows_[row].line; }
  std::string id(size_t row) const;  // "file:line", which names the row in reports

 private:
  struct Row {
    int line = 0;  // first line of the row, from 1
    std::vector<std::string> cells;
  };
  [[noreturn]] void fail_cell(size_t row, size_t column, std::string_view expected) const;

  std::string file_;
  std::vector<std::string> header_;
  std::vector<Row> rows_;
};

// Adds quotes if the cell needs them.
std::string csv_cell(const std::string& cell);

}  // namespace windtunnel

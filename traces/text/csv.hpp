// A CSV file with a header line, held in memory: the format of all measured rows. RFC 4180 quoting
// ("" inside quotes, line breaks inside quotes), CRLF or LF, an optional byte-order mark; blank
// lines are ignored. Every error names file and line; its column counts cells.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
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

struct NumberColumn {
  std::string_view name;
  std::string_view unit;  // "" for a plain number
  double largest;         // bound for plausible values, with a margin
  bool zero_too = false;  // 0 is allowed; otherwise values must be positive
};

// A row that cannot be used, and why: each fault as "column 'x': what", separated by "; ".
struct UnusableRow {
  std::string id;  // "file:line", or "file:line:column" of the first faulty cell
  std::string reason;
  std::optional<size_t> table_row = {};  // none: the line has too few or too many cells
};

// Reads one row of measured values (CSV) and collects its faults: it notes a faulty cell and
// continues, so that all faults of a row are reported at once.
class RowReader {
 public:
  RowReader(const CsvTable& table, size_t row) : table_(table), row_(row) {}

  const std::vector<std::string>& faults() const { return faults_; }
  UnusableRow unusable() const;  // the row, with all its faults
  void fault(std::string_view column, std::string_view what);

  // Empty if there is no such column.
  std::string text(std::string_view column) const;
  // The same for a cell that must be empty or one of these words; no words: any text.
  std::string word(std::string_view column, std::span<const std::string_view> words);
  // Nothing if the cell is empty or faulty.
  std::optional<double> number(const NumberColumn& column);
  std::optional<int> count(const NumberColumn& column);
  std::optional<bool> flag(std::string_view column);

 private:
  const CsvTable& table_;
  size_t row_;
  std::vector<std::string> faults_;
  std::optional<size_t> first_column_;  // of the first fault, if the column exists
};

// `read` converts a row, given its reader, to a run; a row with faults goes to `unusable`, as do
// malformed rows (`faults`). Both keep the order of the file.
template <typename Run, typename Read>
void read_rows(const CsvTable& table, const std::vector<CsvFault>& faults, const Read& read,
               std::vector<Run>& runs, std::vector<UnusableRow>& unusable) {
  auto fault = faults.begin();
  const auto note_faults_before = [&](int line) {
    for (; fault != faults.end() && fault->line < line; ++fault) {
      unusable.push_back({table.file() + ":" + std::to_string(fault->line), fault->what});
    }
  };
  for (size_t row = 0; row < table.rows(); ++row) {
    note_faults_before(table.line(row));
    RowReader reader(table, row);
    Run run = read(row, reader);
    if (reader.faults().empty()) {
      runs.push_back(std::move(run));
    } else {
      unusable.push_back(reader.unusable());
    }
  }
  note_faults_before(std::numeric_limits<int>::max());
}

}  // namespace windtunnel

// Reads one row of measured values (CSV) and collects its faults: it notes a faulty cell and
// continues, so that all faults of a row are reported at once.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "traces/text/csv.hpp"

namespace windtunnel {

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

class RowReader {
 public:
  RowReader(const CsvTable& table, size_t row) : table_(table), row_(row) {}

  const std::vector<std::string>& faults() const { return faults_; }
  std::string place() const;  // UnusableRow::id
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
      unusable.push_back({fmt::format("{}:{}", table.file(), fault->line), fault->what});
    }
  };
  for (size_t row = 0; row < table.rows(); ++row) {
    note_faults_before(table.line(row));
    RowReader reader(table, row);
    Run run = read(row, reader);
    if (reader.faults().empty()) {
      runs.push_back(std::move(run));
    } else {
      unusable.push_back(
          {reader.place(), fmt::format("{}", fmt::join(reader.faults(), "; ")), row});
    }
  }
  note_faults_before(std::numeric_limits<int>::max());
}

}  // namespace windtunnel

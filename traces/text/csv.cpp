#include "traces/text/csv.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/printable.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

constexpr std::string_view kOpenQuote = "a quote is not closed";

// Reads the records of the text one by one.
class CsvScanner {
 public:
  CsvScanner(std::string_view text, const std::string& file) : text_(text), file_(file) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text_.starts_with(kByteOrderMark)) position_ = kByteOrderMark.size();
  }

  // The next record that is not a blank line, and the line on which it starts.
  bool next(std::vector<std::string>& cells, int& line) {
    while (position_ < text_.size()) {
      cells.clear();
      line = line_;
      record_ = position_;
      const bool quoted = scan_record(cells);
      if (cells.size() > 1 || !cells[0].empty() || quoted) return true;
    }
    return false;
  }

  // Goes back to the second line of the last record.
  void resume_after_first_line(int line) {
    const size_t end = text_.find('\n', record_);
    position_ = end == std::string_view::npos ? text_.size() : end + 1;
    line_ = line + 1;
  }

 private:
  // True if any cell was quoted.
  bool scan_record(std::vector<std::string>& cells) {
    bool any_quoted = false;
    while (true) {
      std::string& cell = cells.emplace_back();
      if (position_ < text_.size() && text_[position_] == '"') {
        scan_quoted(cell);
        any_quoted = true;
      }
      while (position_ < text_.size() && text_[position_] != ',' && text_[position_] != '\n') {
        cell += text_[position_++];
      }
      const bool more = position_ < text_.size() && text_[position_] == ',';
      if (!more) {
        if (!cell.empty() && cell.back() == '\r') cell.pop_back();
        if (position_ < text_.size()) {
          ++position_;
          ++line_;
        }
        return any_quoted;
      }
      ++position_;
    }
  }

  void scan_quoted(std::string& cell) {
    const int opened = line_;
    for (++position_; position_ < text_.size(); ++position_) {
      const char c = text_[position_];
      if (c == '"') {
        if (position_ + 1 >= text_.size() || text_[position_ + 1] != '"') {
          ++position_;
          return;
        }
        ++position_;
      } else if (c == '\n') {
        ++line_;
      }
      cell += c;
    }
    throw Error({file_, opened, 1}, std::string(kOpenQuote));
  }

  std::string_view text_;
  const std::string& file_;
  size_t position_ = 0;
  size_t record_ = 0;  // start of the last record
  int line_ = 1;
};

// Returns a number only if the whole text is one.
template <typename T>
std::optional<T> parse_whole(std::string_view text) {
  text = trimmed(text);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

CsvTable CsvTable::parse(std::string_view text, std::string file, std::vector<CsvFault>* faults,
                         const CsvRepair& repair) {
  CsvTable table;
  table.file_ = std::move(file);
  CsvScanner scanner(text, table.file_);
  int line = 0;
  if (!scanner.next(table.header_, line)) throw Error({table.file_, 1, 1}, "the file is empty");
  for (size_t i = 0; i < table.header_.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (table.header_[i] == table.header_[j]) {
        throw Error({table.file_, line, static_cast<int>(i) + 1},
                    fmt::format("column '{}' is in the header twice", table.header_[i]));
      }
    }
  }
  const auto note_fault = [&](int at, std::string what) {
    faults->push_back({at, std::move(what)});
    scanner.resume_after_first_line(at);
  };
  while (true) {
    Row row;
    try {
      if (!scanner.next(row.cells, row.line)) return table;
    } catch (const Error&) {
      if (faults == nullptr) throw;
      note_fault(row.line, std::string(kOpenQuote));
      continue;
    }
    if (row.cells.size() == table.header_.size() || (repair && repair(table.header_, row.cells))) {
      CHECK(row.cells.size() == table.header_.size(), "a row is repaired to {} cells",
            row.cells.size());
      table.rows_.push_back(std::move(row));
      continue;
    }
    std::string what = fmt::format("the row has {} cells, but the header has {}", row.cells.size(),
                                   table.header_.size());
    if (faults == nullptr) throw Error({table.file_, row.line, 1}, what);
    note_fault(row.line, std::move(what));
  }
}

std::string csv_cell(const std::string& cell) {
  if (cell.find_first_of(",\"\n\r") == std::string::npos) return cell;
  std::string result = "\"";
  for (const char c : cell) {
    if (c == '"') result += c;
    result += c;
  }
  return result + '"';
}

CsvTable CsvTable::read(const std::string& path) {
  return parse(read_file(path), path);
}

bool CsvTable::has(std::string_view column) const {
  for (const std::string& name : header_) {
    if (name == column) return true;
  }
  return false;
}

size_t CsvTable::column(std::string_view name) const {
  for (size_t i = 0; i < header_.size(); ++i) {
    if (header_[i] == name) return i;
  }
  const std::string near = nearest_name(name, header_);
  throw Error({file_, 1, 1},
              fmt::format("column '{}' is missing; the file has {}", name,
                          near.empty() ? excerpt(fmt::format("{}", fmt::join(header_, ", ")))
                                       : fmt::format("a similar one, '{}'", near)));
}

const std::string& CsvTable::text(size_t row, size_t column) const {
  return rows_[row].cells[column];
}

double CsvTable::number(size_t row, size_t column) const {
  const auto value = parse_whole<double>(text(row, column));
  if (!value || !std::isfinite(*value)) fail_cell(row, column, "a number");
  return *value;
}

int CsvTable::integer(size_t row, size_t column) const {
  const auto value = parse_whole<int>(text(row, column));
  if (!value) fail_cell(row, column, "a whole number");
  return *value;
}

std::optional<double> CsvTable::optional_number(size_t row, size_t column) const {
  if (trimmed(text(row, column)).empty()) return std::nullopt;
  return number(row, column);
}

std::string CsvTable::id(size_t row) const {
  return fmt::format("{}:{}", file_, line(row));
}

void CsvTable::fail_cell(size_t row, size_t column, std::string_view expected) const {
  throw Error({file_, line(row), static_cast<int>(column) + 1},
              fmt::format("column '{}' holds '{}', not {}", header_[column],
                          excerpt(text(row, column)), expected));
}

void RowReader::fault(std::string_view column, std::string_view what) {
  if (faults_.empty() && table_.has(column)) first_column_ = table_.column(column);
  faults_.push_back(fmt::format("column '{}': {}", column, what));
}

UnusableRow RowReader::unusable() const {
  const std::string row = table_.id(row_);
  return {first_column_ ? fmt::format("{}:{}", row, *first_column_ + 1) : row,
          fmt::format("{}", fmt::join(faults_, "; ")), row_};
}

std::string RowReader::text(std::string_view column) const {
  if (!table_.has(column)) return {};
  return std::string(trimmed(table_.text(row_, table_.column(column))));
}

std::string RowReader::word(std::string_view column, std::span<const std::string_view> words) {
  std::string cell = text(column);
  if (cell.empty() || words.empty() || std::ranges::find(words, cell) != words.end()) return cell;
  const std::string nearest = nearest_name(cell, {words.begin(), words.end()});
  fault(column, fmt::format("'{}' is none of {}{}", excerpt(cell), fmt::join(words, ", "),
                            nearest.empty() ? "" : "; did you mean '" + nearest + "'?"));
  return {};
}

std::optional<double> RowReader::number(const NumberColumn& column) {
  const std::string cell = text(column.name);
  if (cell.empty()) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  const std::string unit = column.unit.empty() ? "" : fmt::format(" ({})", column.unit);
  if (error == std::errc::invalid_argument) {
    fault(column.name, fmt::format("'{}' is not a number{}", cell, unit));
  } else if (end != cell.data() + cell.size()) {
    fault(column.name,
          fmt::format("'{}' has text after the number; expected only the number{}", cell, unit));
  } else if (error != std::errc() || value > column.largest) {
    fault(column.name, fmt::format("{} is more than {:g}{}", cell, column.largest, unit));
  } else if (!std::isfinite(value)) {
    fault(column.name, fmt::format("{} is not a finite number", cell));
  } else if (value < 0 || (value == 0 && !column.zero_too)) {
    fault(column.name,
          fmt::format("{} is {} 0", cell, column.zero_too ? "less than" : "not greater than"));
  } else {
    return value;
  }
  return std::nullopt;
}

std::optional<int> RowReader::count(const NumberColumn& column) {
  const std::optional<double> value = number(column);
  if (!value) return std::nullopt;
  if (*value != std::floor(*value)) {
    fault(column.name, fmt::format("{} is not a whole number", text(column.name)));
    return std::nullopt;
  }
  return static_cast<int>(*value);
}

std::optional<bool> RowReader::flag(std::string_view column) {
  const std::string cell = text(column);
  if (cell.empty()) return std::nullopt;
  for (const char* word : {"1", "true", "True"}) {
    if (cell == word) return true;
  }
  for (const char* word : {"0", "false", "False"}) {
    if (cell == word) return false;
  }
  fault(column, fmt::format("'{}' is neither 1 (or true) nor 0 (or false)", cell));
  return std::nullopt;
}

}  // namespace windtunnel

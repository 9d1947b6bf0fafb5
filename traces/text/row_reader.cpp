#include "traces/text/row_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "models/base/error.hpp"
#include "models/base/printable.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {

void RowReader::fault(std::string_view column, std::string_view what) {
  if (faults_.empty() && table_.has(column)) first_column_ = table_.column(column);
  faults_.push_back(fmt::format("column '{}': {}", column, what));
}

std::string RowReader::place() const {
  const std::string row = table_.id(row_);
  return first_column_ ? fmt::format("{}:{}", row, *first_column_ + 1) : row;
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

#include "traces/nccl/nccl_tests.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/printable.hpp"
#include "traces/nccl/nccl_tests_row.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

// Accesses the cells of one row by column name, with their places.
class RowCells {
 public:
  RowCells(const CsvTable& table, size_t row) : table_(table), row_(row) {}

  Location at(std::string_view column) const {
    return {table_.file(), table_.line(row_), static_cast<int>(table_.column(column)) + 1};
  }
  std::string text(std::string_view column) const {
    return std::string(trimmed(table_.text(row_, table_.column(column))));
  }
  // Returns "" if the table lacks the column.
  std::string optional_text(std::string_view column) const {
    return table_.has(column) ? text(column) : std::string();
  }
  std::optional<PrintedNumber> optional_number(std::string_view column) const {
    if (optional_text(column).empty()) return std::nullopt;
    return number(column);
  }
  PrintedNumber number(std::string_view column) const {
    const auto found = printed_number(text(column));
    if (found) return *found;
    throw Error(at(column),
                fmt::format("column '{}' holds '{}', not a number", column, excerpt(text(column))));
  }
  int count(std::string_view column, int least) const {
    const int found = table_.integer(row_, table_.column(column));
    if (found >= least) return found;
    throw Error(at(column), fmt::format("column '{}' contains {}; it must be at least {}", column,
                                        found, least));
  }

 private:
  const CsvTable& table_;
  size_t row_;
};

bool in_place(const RowCells& cells) {
  const std::string placement = cells.optional_text("placement");
  if (placement == "in") return true;
  if (placement == "out" || placement.empty()) return false;
  throw Error(cells.at("placement"),
              fmt::format("column 'placement' holds '{}', not 'in' or 'out'", excerpt(placement)));
}

CollectiveRow read_row(const CsvTable& table, size_t index) {
  const RowCells cells(table, index);
  CollectiveRow row;
  row.id = table.id(index);
  row.table_row = index;
  row.source = cells.optional_text("source");
  row.machine = cells.text("machine");
  row.gpu = cells.text("gpu");
  row.gpus = cells.count("gpus", 2);
  row.nodes = cells.text("nodes").empty() ? 0 : cells.count("nodes", 1);
  if (row.nodes > row.gpus) {
    throw Error(cells.at("nodes"),
                fmt::format("{} ranks cannot be on {} nodes", row.gpus, row.nodes));
  }
  row.network = cells.text("network");
  const NamedCollective named = collective_named(cells.text("collective"), cells.at("collective"));
  row.kind = named.kind;
  row.unusable = named.unusable;
  row.bytes = cells.number("bytes").value;
  row.in_place = in_place(cells);
  row.nccl_version = cells.optional_text("nccl_version");
  row.dtype = cells.optional_text("dtype");
  row.notes = cells.optional_text("notes");
  row.check = cells.optional_text("check");
  if (row.check == "inconsistent") row.unusable = "its source marks the row as inconsistent";
  RowNumbers numbers{cells.number("time_us"), cells.optional_number("algbw_GBps"),
                     cells.optional_number("busbw_GBps")};
  numbers.size_at = cells.at("bytes");
  numbers.time_at = cells.at("time_us");
  if (numbers.algbw_GBps) numbers.algbw_at = cells.at("algbw_GBps");
  if (numbers.busbw_GBps) numbers.busbw_at = cells.at("busbw_GBps");
  if (!row.dtype.empty()) numbers.dtype_at = cells.at("dtype");
  finish_row(numbers, row);
  return row;
}

}  // namespace

CollectiveRows parse_collective_rows(std::string_view text, const std::string& file) {
  CollectiveRows found;
  found.path = file;
  std::vector<CsvFault> faults;
  found.table = CsvTable::parse(text, file, &faults);
  for (const char* column :
       {"machine", "gpu", "gpus", "nodes", "network", "collective", "bytes", "time_us"}) {
    found.table.column(column);
  }
  for (const CsvFault& fault : faults) {
    found.unreadable.push_back({fmt::format("{}:{}", file, fault.line), fault.what});
  }
  for (size_t i = 0; i < found.table.rows(); ++i) {
    try {
      found.rows.push_back(read_row(found.table, i));
    } catch (const Error& error) {
      const Location& where = error.where();
      found.unreadable.push_back({fmt::format("{}:{}:{}", where.file, where.line, where.column),
                                  std::string(error.text()), i});
    }
  }
  if (found.rows.empty() && found.unreadable.empty())
    throw Error({file, 1, 1}, "contains a header but no rows");
  return found;
}

CollectiveRows read_collective_rows(const std::string& path) {
  return parse_collective_rows(read_file(path), path);
}

bool is_nccl_log(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  if (text[first] == '{' || text[first] == '#') return true;
  const std::string_view header = text.substr(first, text.find('\n', first) - first);
  return header.find("time_us") == std::string_view::npos &&
         text.find("\n#") != std::string_view::npos;
}

CollectiveRows read_collectives(const std::string& path, const LogContext& log) {
  const std::string text = read_file(path);
  return is_nccl_log(text) ? parse_nccl_tests(text, path, log) : parse_collective_rows(text, path);
}

}  // namespace windtunnel

// Text in aligned columns, for all lists and comparisons on the console.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace windtunnel {

enum class Align { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
  std::string brief = {};  // the title on the console, if it differs
  std::size_t most = 0;    // characters of a cell on the console (shortened()); 0: unlimited
};

struct TextTable {
  std::vector<Column> columns;
  // A row has a cell for each column, or a single cell, which the console prints as a line of its
  // own.
  std::vector<std::vector<std::string>> rows;
};

// A table without rows, from the titles of its columns: "rank | step time ~32 >" has two, the
// second aligned to the right and with at most 32 characters per cell on the console.
TextTable titled_table(std::string_view titles);

// A table with the row that `row` returns for each entry of the range.
using TableRow = std::vector<std::string>;
template <class Range, class Row>
TextTable table_of(std::string_view titles, const Range& range, Row row) {
  TextTable table = titled_table(titles);
  for (const auto& entry : range) table.rows.push_back(row(entry));
  return table;
}

// Aligns the columns with two spaces between them and no trailing blanks. Widths count UTF-8 code
// points. Control characters, which may come from a file, are shown as bytes.
//
// No line is longer than `width` (0: unlimited). Text is wrapped within its column, numbers are
// not; if there are too many columns, they form groups below each other, each with the first column
// repeated. A table with lines of its own is not narrowed.
std::string table_text(const TextTable& table, size_t width = 0);

// At most `width` characters, with the middle left out: similar names differ at their ends. Counts
// bytes, so that a name that is not ASCII may become shorter.
std::string shortened(const std::string& text, std::size_t width);

}  // namespace windtunnel

// Columns of text, aligned: what every list and comparison on the console is made of.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace windtunnel {

enum class Align { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
  std::string brief = {};  // the title on the console; empty: as everywhere
  std::size_t most = 0;    // characters of a cell on the console (shortened()); 0: any
};

struct TextTable {
  std::vector<Column> columns;
  // A row has a cell for each column, or one alone: on the console that is a line between the
  // others.
  std::vector<std::vector<std::string>> rows;
};

// Two spaces between columns, no trailing blanks. Widths count UTF-8 code points. Control
// characters of a cell are shown as their bytes: it may come from a file.
//
// `width`: no line is longer, 0: as wide as it is. Words are wrapped inside of their column,
// numbers are not; where columns are too many, they stand in groups below each other, each beside
// the first column. A table with lines of its own stays as wide as it is.
std::string table_text(const TextTable& table, size_t width = 0);

// At most `width` characters, the middle left out: names of one kind differ at their ends. Counts
// bytes, so that a name with others than ASCII may come out shorter.
std::string shortened(const std::string& text, std::size_t width);

}  // namespace windtunnel

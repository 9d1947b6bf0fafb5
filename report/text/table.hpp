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
};

struct TextTable {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  // each as long as columns
};

// Two spaces between columns, no trailing blanks. Widths count UTF-8 code points. Control
// characters of a cell are shown as their bytes: it may come from a file.
//
// `width`: no line is longer, 0: as wide as it is. Words are wrapped inside of their column,
// numbers are not; where columns are too many, they stand in groups below each other, each beside
// the first column.
std::string table_text(const TextTable& table, size_t width = 0);

}  // namespace windtunnel

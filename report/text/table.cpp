#include "report/text/table.hpp"

#include <algorithm>

#include "models/base/error.hpp"
#include "models/base/printable.hpp"

namespace windtunnel {
namespace {

size_t width_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](unsigned char byte) {
    return (byte & 0xC0) != 0x80;  // not a continuation byte
  }));
}

}  // namespace

std::string table_text(const TextTable& table) {
  // The titles and all rows, with what cells hold of files made printable.
  std::vector<std::vector<std::string>> lines(1);
  for (const Column& column : table.columns) lines.front().push_back(printable(column.title));
  for (const std::vector<std::string>& row : table.rows) {
    CHECK(row.size() == table.columns.size(), "a row of {} cells in a table of {} columns",
          row.size(), table.columns.size());
    std::vector<std::string>& cells = lines.emplace_back();
    for (const std::string& cell : row) cells.push_back(printable(cell));
  }
  std::vector<size_t> widths(table.columns.size());
  for (const std::vector<std::string>& row : lines) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string text;
  const auto append_row = [&](const std::vector<std::string>& row) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - width_of(row[i]), ' ');
      if (i > 0) line += "  ";
      line += table.columns[i].align == Align::left ? row[i] + padding : padding + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  for (const std::vector<std::string>& row : lines) append_row(row);
  return text;
}

}  // namespace windtunnel

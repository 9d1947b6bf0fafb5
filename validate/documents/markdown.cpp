#include "validate/documents/markdown.hpp"

#include "models/base/error.hpp"

namespace windtunnel {

std::string markdown_text(const std::string& text) {
  std::string cell;
  for (const char c : text) {
    switch (c) {
      case '|':
        cell += "\\|";
        break;
      case '<':
        cell += "&lt;";
        break;
      case '\n':
        cell += " ";
        break;
      case '\r':
        break;
      default:
        cell += c;
    }
  }
  return cell;
}

std::string markdown_table(const TextTable& table) {
  std::string text = "|", rule = "|";
  for (const Column& column : table.columns) {
    text += " " + markdown_text(column.title) + " |";
    rule += column.align == Align::left ? "---|" : "--:|";
  }
  text += "\n" + rule + "\n";
  for (const std::vector<std::string>& row : table.rows) {
    CHECK(row.size() == table.columns.size(), "a row of {} cells in a table of {} columns",
          row.size(), table.columns.size());
    text += "|";
    for (const std::string& cell : row) text += " " + markdown_text(cell) + " |";
    text += "\n";
  }
  return text;
}

}  // namespace windtunnel

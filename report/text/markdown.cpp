#include "report/text/markdown.hpp"

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

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + markdown_text(cell) + " |";
  return line + "\n";
}

std::string markdown_header(const std::vector<std::string>& titles, size_t right) {
  std::string line = markdown_row(titles) + "|";
  for (size_t i = 0; i < titles.size(); ++i) line += i < right ? "---|" : "--:|";
  return line + "\n";
}

}  // namespace windtunnel

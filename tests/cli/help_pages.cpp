#include "tests/cli/help_pages.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "tests/cli/run_program.hpp"

namespace windtunnel {
namespace {

void add_pages(const std::string& path, std::map<std::string, std::string>& pages) {
  const ProgramResult result = run_program(path + " --help");
  EXPECT_EQ(result.exit_code, 0) << path;
  EXPECT_EQ(result.err, "") << path;
  pages[path] = result.out;
  for (std::string name : first_words(result.out, "Subcommands:")) {
    if (name.ends_with(',')) name.pop_back();  // further names follow
    const std::string command = path.empty() ? name : path + " " + name;
    if (is_built(command)) add_pages(command, pages);
  }
}

}  // namespace

std::vector<std::string> first_words(const std::string& help, const std::string& part) {
  std::vector<std::string> words;
  std::istringstream lines(help);
  std::string line;
  while (std::getline(lines, line) && line != part) {
  }
  while (std::getline(lines, line) && !line.empty()) {
    if (!line.starts_with("  ") || line[2] == ' ') continue;  // a description goes on
    words.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return words;
}

const std::map<std::string, std::string>& help_pages() {
  static const std::map<std::string, std::string> pages = [] {
    std::map<std::string, std::string> all;
    add_pages("", all);
    return all;
  }();
  return pages;
}

}  // namespace windtunnel

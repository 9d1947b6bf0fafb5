#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "tests/house/source_rules.hpp"

namespace windtunnel {
namespace {

// Only sources of the program need a test. Tests themselves need none, and the Python module is
// tested in Python.
bool needs_test(std::string_view path) {
  static constexpr std::array<std::string_view, 5> kOthers = {"tests/", "bench/", "examples/",
                                                              "include/", "python/"};
  return (path.ends_with(".cpp") || path.ends_with(".cu")) &&
         std::ranges::none_of(kOthers, [&](auto other) { return path.starts_with(other); });
}

std::string own_test(std::string_view source) {
  return fmt::format("tests/{}_test.cpp", source.substr(0, source.rfind('.')));
}

struct Row {
  std::string_view source;
  std::string_view test;
  std::string_view reason;  // all after the second comma
};

Row row_of(std::string_view line) {
  const std::size_t first = std::min(line.find(','), line.size());
  const std::size_t second = std::min(line.find(',', first + 1), line.size());
  return {line.substr(0, first), line.substr(std::min(first + 1, second), second - first - 1),
          line.substr(std::min(second + 1, line.size()))};
}

// Says what is wrong with a row; empty if nothing is.
std::string row_rule(const Row& row, std::string_view before,
                     const std::set<std::string_view>& paths) {
  if (row.source <= before) return "rows are sorted by source and stand once";
  if (row.reason.empty()) return "a row is source,test,reason";
  if (!paths.contains(row.source)) return fmt::format("no source {}: drop the row", row.source);
  const std::string own = own_test(row.source);
  if (paths.contains(own)) return fmt::format("{} tests it: drop the row", own);
  if (paths.contains(row.test) && row.test.ends_with("_test.cpp")) return "";
  return fmt::format("no test {}: name the one that tests {}, or write {}", row.test, row.source,
                     own);
}

// Counts the arguments after a call's opening bracket: commas separate them, unless they are inside
// another bracket or a literal.
int arguments_in(std::string_view text) {
  int arguments = 1, depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size() && depth >= 0; ++i) {
    const char c = text[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted) {
      if (c == '(' || c == '{' || c == '[') ++depth;
      if (c == ')' || c == '}' || c == ']') --depth;
      if (c == ',' && depth == 0) ++arguments;
    }
  }
  return arguments;
}

}  // namespace

std::vector<Breach> untested_sources(const std::vector<SourceFile>& files,
                                     const SourceFile& table) {
  std::set<std::string_view> paths;
  for (const SourceFile& file : files) paths.insert(file.path);
  std::vector<Breach> breaches;
  std::set<std::string_view> listed;
  std::string_view before;
  for (std::size_t i = 1; i < table.lines.size(); ++i) {
    const Row row = row_of(table.lines[i]);
    const std::string rule = row_rule(row, before, paths);
    if (!rule.empty()) breaches.push_back({table.path, static_cast<int>(i + 1), rule});
    before = row.source;
    listed.insert(row.source);
  }
  for (const SourceFile& file : files) {
    const std::string own = own_test(file.path);
    if (!needs_test(file.path) || listed.contains(file.path) || paths.contains(own)) continue;
    breaches.push_back(
        {file.path, 1, fmt::format("write {}, or say in {} what tests it", own, table.path)});
  }
  return breaches;
}

std::vector<Breach> unnamed_tests(const SourceFile& file) {
  constexpr std::string_view kMacro = "INSTANTIATE_TEST_SUITE_P(";
  std::vector<Breach> breaches;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    if (!file.lines[i].starts_with(kMacro)) continue;
    std::string text = file.lines[i].substr(kMacro.size());
    for (std::size_t next = i + 1; !text.ends_with(");") && next < file.lines.size(); ++next) {
      text += file.lines[next];
    }
    const bool numbered = text.find("testing::Range(") != std::string::npos;
    if (arguments_in(text) < 4 && !numbered) {
      breaches.push_back(
          {file.path, static_cast<int>(i + 1), "name its tests: tests/support/test_names.hpp"});
    }
  }
  return breaches;
}

}  // namespace windtunnel

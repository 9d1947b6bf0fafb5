// Today's tree breaks these rules in some places: a table lists the places, and it may only shrink.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "tests/house/source_rules.hpp"

namespace windtunnel {
namespace {

constexpr int kLeastSources = 4;

std::string_view without_extension(std::string_view path) {
  return path.substr(0, path.rfind('.'));
}

// Tests, benchmarks, examples, public headers and the Python module are not parts of the program.
bool is_program(std::string_view path) {
  return !RE2::PartialMatch(path, "^(?:tests|bench|examples|include|python)/");
}

std::string first_column(std::string_view line) {
  return std::string(line.substr(0, line.find(',')));
}

// Returns a breach for each path of `found` (path to breach) that the table does not list, and for
// each row of the table that is not in `found`.
std::vector<Breach> beyond_list(const std::map<std::string, std::string>& found,
                                const SourceFile& table) {
  std::vector<Breach> breaches;
  std::set<std::string> listed;
  for (std::size_t i = 1; i < table.lines.size(); ++i) {
    const std::string path = first_column(table.lines[i]);
    listed.insert(path);
    if (found.contains(path)) continue;
    breaches.push_back({table.path, static_cast<int>(i + 1),
                        fmt::format("{} obeys the rule now: drop the row", path)});
  }
  for (const auto& [path, rule] : found) {
    if (!listed.contains(path)) breaches.push_back({path, 1, rule});
  }
  return breaches;
}

}  // namespace

std::vector<Breach> small_rooms(const std::vector<SourceFile>& files, const SourceFile& table) {
  std::map<std::string, int> sources;
  for (const SourceFile& file : files) {
    if (is_program(file.path)) ++sources[std::string(folder_of(file.path))];
  }
  std::map<std::string, std::string> found;
  for (const auto& [room, count] : sources) {
    if (count >= kLeastSources) continue;
    found[room] = fmt::format("a room of {} sources: put them with those that use them", count);
  }
  return beyond_list(found, table);
}

std::vector<Breach> headers_of_one(const std::vector<SourceFile>& files, const SourceFile& table) {
  static const RE2 include(R"re(\s*#\s*include\s*["<]([^">]+)[">].*)re");
  std::map<std::string, std::set<std::string>> users;
  for (const SourceFile& file : files) {
    for (const std::string& line : file.lines) {
      std::string target;
      if (RE2::FullMatch(line, include, &target)) users[target].insert(file.path);
    }
  }
  std::map<std::string, std::string> found;
  for (const SourceFile& file : files) {
    const bool header = file.path.ends_with(".hpp") || file.path.ends_with(".cuh");
    if (!header || !is_program(file.path)) continue;
    std::set<std::string> others = users[file.path];
    std::erase_if(others, [&](const std::string& user) {
      return without_extension(user) == without_extension(file.path);
    });
    const bool tested = std::ranges::any_of(
        others, [](const std::string& user) { return user.starts_with("tests/"); });
    if (tested || others.size() > 1) continue;
    found[file.path] =
        others.empty() ? "nothing includes this header"
                       : fmt::format("only {} includes this header: fold it in", *others.begin());
  }
  return beyond_list(found, table);
}

}  // namespace windtunnel

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "tests/house/source_rules.hpp"

namespace windtunnel {
namespace {

constexpr int kMostFunctionLines = 70;

// These are the rooms, the lowest first: a file includes only its own room and rooms before it, so
// that no two folders need each other.
constexpr std::array kRooms = std::to_array<std::string_view>({
    "models/base",
    "models/base/fit",
    "models/calibration",
    "models/machine",
    "models/machine/fabrics",
    "models/machine/links",
    "models/reliability",
    "models/reliability/stragglers",
    "models/workload",
    "models/cost/snapshot",
    "models/network/groups",
    "models/network/nccl",
    "models/network/collectives",
    "models/compression",
    "models/plan",
    "models/cost/op",
    "models/cost/parallel",
    "models/cost/offload",
    "models/cost/chunk",
    "models/cost/memory",
    "models/cost/inference",
    "models/volunteers",
    "models/results",
    "models/power",
    "kernels/device",
    "kernels/code",
    "kernels/compression",
    "kernels/layer",
    "kernels/product",
    "kernels",
    "policies/evaluation",
    "policies/analysis",
    "policies/exchange",
    "policies/outer",
    "policies/schedules",
    "policies/conflicts",
    "policies/tasks",
    "policies/protection",
    "policies/shares",
    "policies/filling",
    "policies/lowering",
    "policies/lengths",
    "policies",
    "policies/search",
    "traces/text",
    "traces/chakra",
    "traces/perfetto",
    "traces/nccl",
    "traces/rows",
    "traces/logs",
    "traces/sqlite",
    "traces/profile",
    "traces/torch",
    "scenarios/language/text",
    "scenarios/language/library",
    "scenarios/language/library/facts",
    "scenarios/language/configs",
    "scenarios/language/resolve",
    "scenarios/language",
    "scenarios/language/imports",
    "scenarios/language/fields",
    "sim/campaign",
    "sim/engine",
    "sim/volunteers",
    "sim/study/iterations",
    "sim/study/notes",
    "sim/study/rollout",
    "sim/study/volunteers",
    "sim/study",
    "sim/study/expect",
    "sim/study/plan",
    "sim/study/diagnose",
    "report/text",
    "report/figures",
    "report/summary",
    "report/json",
    "report/console",
    "report/listing",
    "report/schedule",
    "report/store",
    "report/page",
    "report/captured",
    "report/answer",
    "report/live",
    "report/api",
    "cli/program",
    "cli/shell",
    "cli/mcp",
    "cli/optimise",
    "cli/plan",
    "cli/schedule",
    "cli/serve",
    "cli/sweep",
    "cli/trace",
    "cli",
    "validate/harness/ranks",
    "validate/harness/collectives",
    "validate/harness/timing",
    "validate/harness/execute",
    "validate/accuracy/rows",
    "validate/accuracy/collectives",
    "validate/accuracy/compression",
    "validate/accuracy/execution",
    "validate/accuracy/faults",
    "validate/accuracy/pairs",
    "validate/accuracy/samples",
    "validate/accuracy/schedules",
    "validate/accuracy/runs",
    "validate/accuracy/kinds",
    "validate/documents",
    "validate/pages",
    "validate/commands",
});

std::string_view name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// Only sources of the program have rooms.
bool has_room(std::string_view path) {
  static constexpr std::array<std::string_view, 5> kOthers = {"tests/", "bench/", "examples/",
                                                              "include/", "python/"};
  return std::ranges::none_of(kOthers, [&](auto other) { return path.starts_with(other); });
}

// Returns whether the function is a table with rows instead of steps: a brace of rows opens in one
// of its first three lines.
bool is_table(const SourceFile& file, std::size_t begin) {
  static const RE2 rows(R"(\s+.*(?:=|return) \{+)");
  for (std::size_t at = begin; at < std::min(begin + 3, file.lines.size()); ++at) {
    if (RE2::FullMatch(file.lines[at], rows)) return true;
  }
  return false;
}

}  // namespace

std::vector<Breach> room_breaches(const SourceFile& file) {
  static const RE2 include(R"re(\s*#\s*include\s*"([^"]+)".*)re");
  if (!has_room(file.path)) return {};
  const auto* own = std::ranges::find(kRooms, folder_of(file.path));
  if (own == kRooms.end()) return {{file.path, 1, "its folder is not in the list of rooms"}};
  std::vector<Breach> breaches;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    std::string target;
    if (!RE2::FullMatch(file.lines[i], include, &target)) continue;
    const auto* room = std::ranges::find(kRooms, folder_of(target));
    if (room == kRooms.end() || room <= own) continue;
    breaches.push_back({file.path, static_cast<int>(i + 1),
                        fmt::format("{}/ stands below {}/ and may not include it", *own, *room)});
  }
  return breaches;
}

std::vector<Breach> repeated_headers(const std::vector<SourceFile>& files) {
  std::map<std::string_view, std::string_view> first;
  std::vector<Breach> breaches;
  for (const SourceFile& file : files) {
    if (!is_header(file.path) || file.path.starts_with("include/")) continue;
    const auto [at, fresh] = first.try_emplace(name_of(file.path), file.path);
    if (fresh) continue;
    breaches.push_back({file.path, 1, fmt::format("{} has this name too", at->second)});
  }
  return breaches;
}

std::vector<Breach> long_functions(const SourceFile& file) {
  static const RE2 no_function(
      R"((?:struct|class|union|enum|namespace|using|extern|template|#|//|public|private|TEST).*)");
  std::vector<Breach> breaches;
  for (std::size_t begin = 0; begin < file.lines.size(); ++begin) {
    const std::string& line = file.lines[begin];
    const bool starts = !line.empty() && line.front() != ' ' && line.front() != '}' &&
                        line.find('(') != std::string::npos &&
                        line.find(" = ") == std::string::npos;
    if (!starts || RE2::FullMatch(line, no_function)) continue;
    std::size_t open = begin;
    while (open < file.lines.size() && !RE2::FullMatch(file.lines[open], R"(.*[{;}]\s*)")) ++open;
    if (open == file.lines.size() || !file.lines[open].ends_with('{')) continue;
    std::size_t end = open + 1;
    while (end < file.lines.size() && !file.lines[end].starts_with('}')) ++end;
    const int lines = static_cast<int>(end - begin) + 1;
    if (lines > kMostFunctionLines && !is_table(file, open + 1)) {
      breaches.push_back(
          {file.path, static_cast<int>(begin + 1), fmt::format("function of {} lines", lines)});
    }
    begin = end;
  }
  return breaches;
}

}  // namespace windtunnel

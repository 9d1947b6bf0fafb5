#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "models/base/error.hpp"
#include "traces/chakra/chakra.hpp"
#include "traces/chakra/chakra_fields.hpp"
#include "traces/chakra/rank_plan.hpp"
#include "traces/chakra/rank_trace.hpp"

namespace windtunnel {
namespace {

// Multiplies the bytes of gathers by the number of ranks, because comm_size is one rank's share.
void scale_gathers(Plan& plan) {
  for (RankClass& owner : plan.classes) {
    for (Task& task : owner.tasks) {
      if (task.kind != TaskKind::collective || !gathers(task.collective)) continue;
      const std::int32_t group = owner.groups[task.group_slot].front();
      task.bytes *= double(plan.groups[group].members.size());
    }
  }
}

}  // namespace

RankPlan read_chakra(std::vector<std::string> files, const ChakraProgress& progress,
                     const RanksCheck& check_ranks) {
  if (files.empty()) throw Error("no trace to read");
  // Sorts the files, so that the result does not depend on the order of the arguments.
  std::sort(files.begin(), files.end(), [](const std::string& a, const std::string& b) {
    return std::pair(rank_of_name(a), a) < std::pair(rank_of_name(b), b);
  });
  std::size_t read = 0;
  RankPlan import = plan_of_ranks(
      [&]() -> std::optional<RankTrace> {
        if (read == files.size()) return std::nullopt;
        if (progress) progress(read, files.size());
        return read_chakra_rank(files[read++]);
      },
      check_ranks);
  if (import.foreign) scale_gathers(import.plan);
  return import;
}

std::vector<std::string> chakra_files(const std::string& folder) {
  namespace fs = std::filesystem;
  std::map<RankId, std::string> by_rank;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string path = at->path().string();
    const RankId rank = rank_of_name(path);
    if (rank < 0 || (path.ends_with(".json") && !is_chakra_json(path))) continue;
    const auto [other, is_new] = by_rank.try_emplace(rank, path);
    if (!is_new) {
      throw Error(Location{folder}, fmt::format("contains traces of two jobs: {} and {}",
                                                fs::path(other->second).filename().string(),
                                                at->path().filename().string()));
    }
  }
  if (error) throw Error(Location{folder}, fmt::format("cannot be read: {}", error.message()));
  if (by_rank.empty()) throw Error(Location{folder}, "contains no traces NAME.RANK.et");
  std::vector<std::string> files;
  for (auto& [rank, path] : by_rank) files.push_back(std::move(path));
  return files;
}

}  // namespace windtunnel

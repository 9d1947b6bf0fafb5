// The task list of one rank from a trace, or of all ranks of its file. Readers of Chakra's files
// and of profiles make it, and rank_plan.hpp joins these lists to a Plan.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/plan/plan.hpp"

namespace windtunnel {

inline constexpr RankId kMostRanks = 10'000'000;  // of a job

struct ProcessGroup {
  std::string name;
  std::string axis;           // pg_desc
  std::vector<RankId> ranks;  // empty: all ranks
  std::uint64_t all = 0;      // the number of ranks if `ranks` is empty; 0: not known
  bool operator==(const ProcessGroup&) const = default;
};

struct RankTrace {
  std::string file;
  bool own = false;  // has our attributes
  // In the whole Plan; 0: not in the file.
  int ranks = 0;
  // Position in the Plan, which only our own files state.
  int iterations = 1;
  int in_step = 1;
  std::vector<UnevenExchange> exchanges;
  std::vector<std::string> scenario;
  std::int32_t class_index = 0;
  std::int32_t first_member = 0;
  // Group numbers are indices into Plan::groups in our own files, and into group_names in others.
  RankClass rank_class;
  std::vector<std::string> group_names;
  std::vector<ProcessGroup> declared;
  std::int64_t absent_deps = 0;  // on nodes that are missing in the file; ignored
  std::int64_t untimed = 0;      // compute nodes of the GPU without a duration; they take no time
};

}  // namespace windtunnel

// The task list of one rank as a trace has it, or of the ranks that the file stands for: what
// readers of Chakra's files and of profilers' make, and rank_plan.hpp joins to a Plan.
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
  std::vector<RankId> ranks;  // none: all
  std::uint64_t all = 0;      // of which it is then; 0: not told
  bool operator==(const ProcessGroup&) const = default;
};

struct RankTrace {
  std::string file;
  bool own = false;  // with our attributes
  // Of the whole Plan; 0: the file does not say.
  int ranks = 0;
  // The place in it, which only our own files state.
  int iterations = 1;
  int in_step = 1;
  std::vector<UnevenExchange> exchanges;
  std::vector<std::string> scenario;
  std::int32_t class_index = 0;
  std::int32_t first_member = 0;
  // Its groups are indices into Plan::groups in our own files, and into group_names in others.
  RankClass rank_class;
  std::vector<std::string> group_names;
  std::vector<ProcessGroup> declared;
  std::int64_t absent_deps = 0;  // on nodes that are not in the file, which hold nothing up
  std::int64_t untimed = 0;      // compute nodes of the GPU without a duration, which take none
};

}  // namespace windtunnel

// One Chakra file as the task list of the rank (or of the ranks) that it stands for. What several
// files say together, groups by name and the classes, is put together in chakra_reader.cpp.
#pragma once

#include <string>
#include <vector>

#include "models/plan.hpp"

namespace windtunnel {

struct ProcessGroup {
  std::string name;
  std::string axis;           // pg_desc
  std::vector<RankId> ranks;  // none: all
  bool operator==(const ProcessGroup&) const = default;
};

struct ChakraRank {
  std::string file;
  bool own = false;  // with our attributes
  // Of the whole Plan, and the place in it; only of our own files.
  int ranks = 0;
  int iterations = 1;
  std::int32_t class_index = 0;
  std::int32_t first_member = 0;
  // Its groups are indices into Plan::groups in our own files, else into group_names.
  RankClass rank_class;
  std::vector<std::string> group_names;
  std::vector<ProcessGroup> declared;
};

// Throws Error that names file and byte.
ChakraRank read_chakra_rank(const std::string& path);

// The rank of NAME.RANK.et; -1 when the name is another one.
RankId rank_of_name(const std::string& path);

}  // namespace windtunnel

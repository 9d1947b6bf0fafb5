// Reads one Chakra file into the task list of the rank, or of the ranks, that it stands for.
// chakra_reader.cpp then joins the files: it finds groups by their names, and classes of equal
// ranks.
#pragma once

#include <string>
#include <vector>

#include "models/plan/plan.hpp"

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
  // The size of the whole Plan and the place in it, which only our own files state.
  int ranks = 0;
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
};

// Throws Error that names file and byte.
ChakraRank read_chakra_rank(const std::string& path);

// The rank of NAME.RANK.et; -1 when the name is another one.
RankId rank_of_name(const std::string& path);

}  // namespace windtunnel

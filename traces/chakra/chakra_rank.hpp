// Reads one Chakra file into the task list of the rank, or of the ranks, that it stands for.
#pragma once

#include <string>

#include "traces/chakra/rank_trace.hpp"

namespace windtunnel {

// Throws Error that names file and byte.
RankTrace read_chakra_rank(const std::string& path);

// The rank of NAME.RANK.et; -1 when the name is another one.
RankId rank_of_name(const std::string& path);

}  // namespace windtunnel

// Reads one Chakra file into the task list of its rank or ranks.
#pragma once

#include <string>

#include "traces/chakra/rank_trace.hpp"

namespace windtunnel {

// Throws Error that names file and byte.
RankTrace read_chakra_rank(const std::string& path);

// The RANK of NAME.RANK.et; -1 for a name of another form.
RankId rank_of_name(const std::string& path);

}  // namespace windtunnel

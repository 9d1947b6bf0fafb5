// What Nsight Systems recorded of one rank, as `nsys export --type sqlite` writes it: kernels,
// copies, launches, and NVTX ranges that mark the steps. It holds no sizes of collectives. Which
// tables and columns count: docs/guide/traces.md.
#pragma once

#include <string>

#include "traces/profile/rank_profile.hpp"

namespace windtunnel {

// Throws Error that names file, table and row.
RankProfile read_nsight(const std::string& path);

}  // namespace windtunnel

// Reads a recording of one rank by Nsight Systems, as `nsys export --type sqlite` writes it:
// kernels, copies, launches, and NVTX ranges that mark the steps. It contains no sizes of
// collectives. docs/guide/traces.md lists the tables and columns that are used.
#pragma once

#include <string>

#include "traces/profile/rank_profile.hpp"

namespace windtunnel {

// Throws Error that names file, table and row.
RankProfile read_nsight(const std::string& path);

}  // namespace windtunnel

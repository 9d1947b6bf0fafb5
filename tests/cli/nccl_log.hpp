// Writes a log of nccl-tests for the commands to read.
#pragma once

#include <string>

namespace windtunnel {

// Writes a log of all-reduces on two nodes of eight H100 into `folder` and returns its path. `bus`
// is the ratio of bus to algorithm bandwidth of the title's collective on 16 ranks.
std::string nccl_log(const std::string& folder, const std::string& name,
                     const std::string& title = "# Collective test starting: all_reduce_perf\n",
                     double bus = 1.875);

}  // namespace windtunnel

// A captured step of a rank as a task list, whose collectives a simulated network can price anew:
// what follows of it on another fabric, or on more ranks.
//
// Kernels keep the time that they were measured to take, and stand in one order, as they ran. What
// waits for what a trace does not say; it follows from when things ran:
// - Communication waits for the last kernel that was launched before it and had ended when it
// began.
// - A kernel waits for communication that ended while nothing computed right before it, unless the
//   host launched it later than that; the optimizer's waits for all that had ended.
// - Of the time in which nothing computes, what such a wait explains is left to the network; the
//   rest stays, charged to the host.
// A wait that was over before the kernel's turn came does not show: on a much slower network such a
// kernel begins too early.
// Communication whose size or peer the trace does not tell takes the time that it was measured to.
#pragma once

#include "traces/chakra/rank_trace.hpp"
#include "traces/profile/captured_steps.hpp"

namespace windtunnel {

struct ProfileTasks {
  RankTrace trace;
  int priced = 0;       // collectives and messages that the network prices
  int as_measured = 0;  // those that take the time that was measured
};

// Throws Error that names the file: the profile has no rank, or a group without known ranks.
ProfileTasks tasks_of(const RankProfile& profile, const CapturedRank& rank,
                      const CapturedStep& step);

// Copies of the whole job side by side, `times` of them with it: groups whose axis is that of data
// parallelism ("dp", "data", "fsdp"; where some are between replicas, "mesh_dp_replicate", those
// alone), or without such all that hold every rank, span them all.
// Throws Error where there is no such group, or more ranks than kMostRanks.
void replicate(RankTrace& trace, int times);

// The same rank of the copy (from 0) of a trace that replicate() has seen.
RankTrace copy_of(const RankTrace& trace, int copy, int times);

}  // namespace windtunnel

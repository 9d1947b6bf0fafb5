// Converts a captured step of a rank to a task list in which a simulated network can price the
// collectives anew, for another fabric or more ranks.
//
// Kernels keep their measured times and their order. A trace does not contain dependencies; they
// are inferred from times:
// - Communication waits for the last kernel that was launched before it and had ended when it
//   began.
// - A kernel waits for communication that ended in the time without compute right before it, unless
//   the host launched the kernel after that; the optimizer's kernel waits for all communication
//   that had ended.
// - The part of the time without compute that such a wait explains is left to the network; the rest
//   stays, and is charged to the host.
// A wait that ended before the kernel's turn leaves no sign: on a much slower network such a kernel
// begins too early. Communication whose size or peer the trace lacks keeps its measured time.
#pragma once

#include "traces/chakra/rank_trace.hpp"
#include "traces/profile/captured_steps.hpp"

namespace windtunnel {

struct ProfileTasks {
  RankTrace trace;
  int priced = 0;       // collectives and messages with times from the network model
  int as_measured = 0;  // collectives and messages that keep their measured time
};

// Throws Error that names the file if the profile has no rank, or a group without known ranks.
ProfileTasks tasks_of(const RankProfile& profile, const CapturedRank& rank,
                      const CapturedStep& step);

// Replicates the whole job to `times` copies that run together. Groups along data parallelism
// ("dp", "data", "fsdp"; only those between replicas, "mesh_dp_replicate", if there are any) and
// groups of every rank along no axis span all copies; without groups along data parallelism, all
// groups that contain every rank do. Throws Error if there is no such group, or there are more than
// kMostRanks ranks.
void replicate(RankTrace& trace, int times);

// Returns the same rank in a copy, numbered from 0, of a trace after replicate().
RankTrace copy_of(const RankTrace& trace, int copy, int times);

}  // namespace windtunnel

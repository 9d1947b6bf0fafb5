// Programs that hosts start when one controller dispatches them: Pathways (Barham et al. 2022,
// arXiv 2203.12533, sections 4.3 to 4.5 and 5.1). A program is a whole step of all ranks, or a pass
// of a pipeline stage. To dispatch a program takes Software::dispatch_latency_s.
// Asynchronous: the controller dispatches the programs of the next step while this one runs. It
// dispatches those of a rank one after another, those of different ranks in parallel. A step takes
// as long as its programs or as their dispatches, whichever is longer. Synchronous: a program is
// dispatched when its inputs are ready, and cannot start earlier.
// The ranks of a gang start each pass together. A whole step starts together on all ranks, after
// the gradient norm.
#pragma once

#include <cstdint>
#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/job.hpp"
#include "models/plan/schedule.hpp"

namespace windtunnel {

// Returns the time to dispatch a rank's programs of an iteration in turn, while others run.
double dispatch_ahead_s(const Job& job, const Schedule& schedule, int rank);
// Returns the time of dispatches between two iterations, while nothing runs.
double dispatch_between_s(const Job& job);
// Returns the time of a step that takes `step_s` without dispatch; `schedule` already contains
// waits within passes.
double dispatched_s(const Job& job, const Schedule& schedule, double step_s);

// Adds each pass's wait for its dispatch to `units`, as host time.
void add_dispatch_of_passes(const Job& job, const Schedule& schedule,
                            std::vector<ChunkCost>& units);

// Returns the gangs of a pipeline stage: ranks that start each pass together, as indices among the
// `members` of pipeline rank `pp`. Empty: no rank waits for another.
std::vector<std::vector<std::int32_t>> gangs(const Job& job, int pp, int members);

}  // namespace windtunnel

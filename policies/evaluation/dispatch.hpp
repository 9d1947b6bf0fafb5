// Programs that hosts start when one controller tells them: Pathways (Barham et al. 2022, arXiv
// 2203.12533, sections 4.3 to 4.5 and 5.1). A program is a whole step of all ranks, or a pass of a
// pipeline stage. Its dispatch takes Software::dispatch_latency_s.
//
// Asynchronous: the controller dispatches the programs of the next step while this one runs, those
// of a rank one after another and those of different ranks in parallel. A step then takes the
// longer of its own time and its dispatches. Synchronous: a program is dispatched when its inputs
// are ready, and then waits for the dispatch.
//
// The ranks of a gang start each program together. A whole step always does, after the gradient
// norm.
#pragma once

#include <cstdint>
#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/job.hpp"
#include "models/plan/schedule.hpp"

namespace windtunnel {

// Time to dispatch a rank's programs of an iteration, one after another, while others run.
double dispatch_ahead_s(const Job& job, const Schedule& schedule, int rank);
// Dispatch time between two iterations, while nothing runs.
double dispatch_between_s(const Job& job);
// The time of a step that takes `step_s` without dispatch; `schedule` already contains waits within
// passes.
double dispatched_s(const Job& job, const Schedule& schedule, double step_s);

// Adds each pass's wait for its dispatch as host time of the units.
void add_dispatch_of_passes(const Job& job, const Schedule& schedule,
                            std::vector<ChunkCost>& units);

// The ranks of a pipeline stage that start each pass together, as indices among the `members` of
// pipeline rank `pp`; empty: none wait for each other.
std::vector<std::vector<std::int32_t>> gangs(const Job& job, int pp, int members);

}  // namespace windtunnel

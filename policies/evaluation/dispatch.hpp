// Programs that one controller has the hosts start: Pathways (Barham et al. 2022, arXiv 2203.12533,
// sections 4.3 to 4.5 and 5.1). A program is a whole step of all ranks, or a pass of a pipeline
// stage. Its dispatch takes Software::dispatch_latency_s.
//
// Asynchronous: the controller dispatches the programs of the next step while this one runs, a
// rank's one after another and those of unlike ranks beside each other. A step then takes what it
// takes, or as long as its dispatches, whichever is longer. Synchronous: a program is dispatched
// when what it waits for is there, and waits for that too.
//
// A gang's ranks begin each program together. A step's always do, behind its gradient norm.
#pragma once

#include <cstdint>
#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/job.hpp"
#include "models/plan/schedule.hpp"

namespace windtunnel {

// Time to dispatch a rank's programs of an iteration, one after another beside what runs.
double dispatch_ahead_s(const Job& job, const Schedule& schedule, int rank);
// Between two iterations, while nothing runs.
double dispatch_between_s(const Job& job);
// A step that takes `step_s` without dispatch; `schedule` has what waits within passes.
double dispatched_s(const Job& job, const Schedule& schedule, double step_s);

// What a pass waits for its own dispatch, as host time of each unit.
void add_dispatch_of_passes(const Job& job, const Schedule& schedule,
                            std::vector<ChunkCost>& units);

// The ranks of a pipeline stage that begin each pass together, as places among its `members` of
// pipeline rank `pp`; empty: none wait.
std::vector<std::vector<std::int32_t>> gangs(const Job& job, int pp, int members);

}  // namespace windtunnel

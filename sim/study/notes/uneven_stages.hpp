// A pipeline in which one rank computes much longer per micro-batch than the others, so that these
// idle beside it: what a bubble, which is counted beyond the busiest rank, does not show.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "models/results/note.hpp"
#include "policies/lowering/prepared_iteration.hpp"

namespace windtunnel {

// One, of the busiest rank, or none.
std::vector<Note> uneven_stage_notes(const Job& job, const PreparedIteration& prepared);

}  // namespace windtunnel

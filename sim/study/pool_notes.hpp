// What was decided for the nodes of a job that are not alike: which layers and which part of the
// batch each gets, where the scenario leaves that to `auto`.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "models/results/note.hpp"
#include "policies/lowering/prepared_iteration.hpp"

namespace windtunnel {

// `prepared`: prepare_iteration() of the job. None where nothing was left to `auto`.
std::vector<Note> pool_notes(const Job& job, const PreparedIteration& prepared);

}  // namespace windtunnel

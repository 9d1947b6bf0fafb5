// A job that is to go on smaller without a spare (recovery.when_no_spare: shrink, relayout) and has
// no smaller form that can be: it waits, as if nothing were said.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "models/results/note.hpp"
#include "policies/lowering/prepared_iteration.hpp"

namespace windtunnel {

// One with the reason, or none. `most_out`: CampaignReport::most_out.
std::vector<Note> whole_job_notes(const Job& job, const PreparedIteration& prepared, int most_out);

}  // namespace windtunnel

// Studies a job's stages on volunteers: cost models, and trials of peers that join and leave.
#pragma once

#include "models/results/volunteer_report.hpp"
#include "models/volunteers/volunteers.hpp"
#include "policies/lowering/prepared_iteration.hpp"

namespace windtunnel {

// `threads` 0: all cores; the report does not depend on it.
VolunteerReport study_volunteers(const Volunteers& volunteers, const Job& job,
                                 const PreparedIteration& prepared, int threads);

}  // namespace windtunnel

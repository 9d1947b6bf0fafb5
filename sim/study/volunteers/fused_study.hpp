// Several copies of a job in one program on its GPU, in closed form.
#pragma once

#include "models/results/fused_report.hpp"
#include "policies/lowering/prepared_iteration.hpp"

namespace windtunnel {

// Studies up to `most` copies. `job` must have one GPU.
FusedReport study_fused(const Job& job, const PreparedIteration& prepared, int most);

}  // namespace windtunnel

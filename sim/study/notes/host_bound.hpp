// Whether the host that launches kernels, not the GPUs, decides how long a step takes.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "models/results/iteration_report.hpp"
#include "models/results/note.hpp"

namespace windtunnel {

// Where the critical path waits a tenth of the step or more for the host, or would if the host were
// as slow as it may be.
std::vector<Note> host_bound_notes(const Job& job, const IterationReport& iteration);

}  // namespace windtunnel

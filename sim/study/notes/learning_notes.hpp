// What a step may teach less than one over the whole batch, dense and of all replicas: its time is
// predicted, not how many are needed.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "models/results/iteration_report.hpp"
#include "models/results/note.hpp"

namespace windtunnel {

// Of fewer synchronisations and compressed exchanges, unless the scenario says how many steps are
// due (job.steps, job.quality); of gradients that lack replicas or come late (redundancy).
std::vector<Note> learning_notes(const Job& job, const IterationReport& report);

}  // namespace windtunnel

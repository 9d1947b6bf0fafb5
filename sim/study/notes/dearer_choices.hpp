// Choices that cost this job more than the plainer one that they were made instead of, which is not
// what their names promise.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "models/results/note.hpp"
#include "policies/lowering/prepared_iteration.hpp"

namespace windtunnel {

struct Framework;  // scenarios/language/library/facts/training_software.hpp

// zero3 that needs more memory than zero2, bucketed reductions that are slower than none beside the
// backward pass, mxfp8 that is slower than fp8: both figures, by estimate_iteration(), and why. A
// plainer choice that `software` (null: none is named) refuses is left out. `prepared`:
// prepare_iteration() of the job.
std::vector<Note> dearer_choices(const Job& job, const PreparedIteration& prepared,
                                 const Framework* software);

}  // namespace windtunnel

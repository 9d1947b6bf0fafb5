// Iterations that a job needs to its target quality: stated, or from a file of the user. The file
// is CSV with the columns `steps` and, if it has several rows, `compressor` (its name), `rank`,
// `density`, `bits`, `global_batch`, and for local training `every` (steps between two exchanges of
// the innermost level of `sync`), `islands` and `sync_compressor`; an empty cell matches every job.
// Between two batches of the file steps follow a power law, which is exact where doubling the batch
// halves the steps (McCandlish et al. 2018, arXiv 1812.06162); there is no extrapolation. The
// simulator does not predict that a compressor needs more steps: the user states it.
#pragma once

#include <string>

#include "models/plan/job.hpp"
#include "scenarios/language/text/named_files.hpp"
#include "scenarios/language/text/values.hpp"

namespace windtunnel {

// The steps of a job whose other parts are resolved; 0: not stated. `files` are those that the
// scenario names. Throws Error with the place of the key or the row.
double resolve_steps(const Values& values, NamedFiles& files, const Job& job);

}  // namespace windtunnel

// Iterations that a job needs to its target quality: stated, or from a file of the user. A file is
// CSV with the columns `steps` and, where it has several rows, `compressor` (its name), `rank`,
// `density`, `bits`, `global_batch`, and of local training `every` (steps between two exchanges of
// the innermost level of `sync`), `islands` and `sync_compressor`; an empty cell goes with
// everything. Between two batches of
// the file steps follow a power law, which holds exactly where twice the batch takes half the steps
// (McCandlish et al. 2018, arXiv 1812.06162); beyond them nothing is known. That a compressor needs
// more steps is the user's to say: nothing here predicts it.
#pragma once

#include <string>

#include "models/plan/job.hpp"
#include "scenarios/language/text/named_files.hpp"
#include "scenarios/language/text/values.hpp"

namespace windtunnel {

// The steps of a job that is otherwise resolved; 0: nothing is stated. `files` are those that the
// scenario names. Throws Error with the place of the key, or of the row.
double resolve_steps(const Values& values, NamedFiles& files, const Job& job);

}  // namespace windtunnel

// Rows of figures() in files of their own. A row reads null if the Record has nothing of its kind.
#pragma once

#include <vector>

#include "report/figures/figures.hpp"

namespace windtunnel {

std::vector<Figure> memory_figures();     // of GPUs and hosts; also numbers of trained parameters
std::vector<Figure> straggler_figures();  // steps that do not wait for all workers
std::vector<Figure> sync_figures();       // exchanges between islands (Job::sync)
// Work in idle time (Job::filling), and waiting for samples (Job::input).
std::vector<Figure> idle_figures();

}  // namespace windtunnel

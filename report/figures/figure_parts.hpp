// Rows of figures() that stand in files of their own. A part is empty or reads null where a Record
// has nothing of its kind.
#pragma once

#include <vector>

#include "report/figures/figures.hpp"

namespace windtunnel {

std::vector<Figure> memory_figures();     // what GPUs and hosts hold; parameters that are trained
std::vector<Figure> straggler_figures();  // where a step does not wait for all of them
std::vector<Figure> sync_figures();       // islands that exchange what they have learnt (Job::sync)
// What fills idle time (Job::filling) and what waits for samples (Job::input).
std::vector<Figure> idle_figures();

}  // namespace windtunnel

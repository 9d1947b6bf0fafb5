// The parts of figures(), each in a file of its own. A part is empty or reads null where a Record
// has nothing of its kind.
#pragma once

#include <vector>

#include "report/figures/figures.hpp"

namespace windtunnel {

std::vector<Figure> fused_figures();      // jobs that are fused on one GPU
std::vector<Figure> idle_figures();       // what fills idle time, and waiting for samples
std::vector<Figure> memory_figures();     // what GPUs and hosts hold; parameters that are trained
std::vector<Figure> power_figures();      // power and energy (cluster.power)
std::vector<Figure> rollout_figures();    // the loop of engines and learner
std::vector<Figure> straggler_figures();  // steps that do not wait for all of them
std::vector<Figure> sync_figures();       // islands that exchange what they have learnt (Job::sync)
std::vector<Figure> volunteer_figures();  // peers that come and go

}  // namespace windtunnel

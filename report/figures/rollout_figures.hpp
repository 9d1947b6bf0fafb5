// Figures of the loop of engines and learner, below "rollout"; no others read them off a Record.
#pragma once

#include <vector>

#include "report/figures/figures.hpp"

namespace windtunnel {

std::vector<Figure> rollout_figures();

}  // namespace windtunnel

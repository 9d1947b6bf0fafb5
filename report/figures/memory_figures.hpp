// Figures of what GPUs and hosts hold, and of the parameters that are trained.
#pragma once

#include <vector>

#include "report/figures/figures.hpp"

namespace windtunnel {

std::vector<Figure> memory_figures();

}  // namespace windtunnel

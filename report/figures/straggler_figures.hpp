// Figures of stragglers, where a step does not wait for all of them.
#pragma once

#include <vector>

#include "report/figures/figures.hpp"

namespace windtunnel {

std::vector<Figure> straggler_figures();

}  // namespace windtunnel

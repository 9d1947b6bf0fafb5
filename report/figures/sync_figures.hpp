// Figures of islands that exchange what they have learnt (Job::sync).
#pragma once

#include <vector>

#include "report/figures/figures.hpp"

namespace windtunnel {

std::vector<Figure> sync_figures();

}  // namespace windtunnel

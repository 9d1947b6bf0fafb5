// The figures of volunteers, below "volunteers" in the run document: rows of figures().
#pragma once

#include <vector>

#include "report/figures/figures.hpp"

namespace windtunnel {

std::vector<Figure> volunteer_figures();

}  // namespace windtunnel

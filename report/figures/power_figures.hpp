// Figures of power and energy, where a scenario asks for them (cluster.power).
#pragma once

#include <vector>

#include "report/figures/figures.hpp"

namespace windtunnel {

std::vector<Figure> power_figures();

}  // namespace windtunnel

// Figures of idle time: what fills it (Job::filling) and what waits for samples (Job::input).
#pragma once

#include <vector>

#include "report/figures/figures.hpp"

namespace windtunnel {

std::vector<Figure> idle_figures();

}  // namespace windtunnel

// Jobs that are fused on one GPU: rows of figures(), below "fused".
#pragma once

#include <vector>

#include "report/figures/figures.hpp"

namespace windtunnel {

std::vector<Figure> fused_figures();

}  // namespace windtunnel

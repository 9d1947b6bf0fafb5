// Jobs that are fused on one GPU: rows of figures(), below "fused", and a section of the summary.
#pragma once

#include <vector>

#include "report/figures/figures.hpp"
#include "report/figures/summary.hpp"

namespace windtunnel {

std::vector<Figure> fused_figures();
SummarySection fused_section(const Record& record);  // which has them

}  // namespace windtunnel

// The model of a run in words, so that the user can see what was simulated.
#pragma once

#include "models/plan/job.hpp"
#include "report/summary/summary.hpp"

namespace windtunnel {

// Shape, kinds of layers and parameters.
SummarySection model_section(const Job& job);

}  // namespace windtunnel

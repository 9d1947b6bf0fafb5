// The model of a run in words: what was computed for, where its user can see it.
#pragma once

#include "models/plan/job.hpp"
#include "report/summary/summary.hpp"

namespace windtunnel {

// Shape, forms and parameters.
SummarySection model_section(const Job& job);

}  // namespace windtunnel

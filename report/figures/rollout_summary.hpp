// The loop of engines and learner in a few lines.
#pragma once

#include "report/figures/summary.hpp"

namespace windtunnel {

// Of a record that has one.
SummarySection rollout_section(const Record& record);

}  // namespace windtunnel

// The loop of engines and learner in a few lines.
#pragma once

#include "report/summary/summary.hpp"

namespace windtunnel {

// Of a record that has one.
SummarySection rollout_section(const Record& record);

}  // namespace windtunnel

// Summary lines about idle time: what fills it, and what waits for samples.
#pragma once

#include <vector>

#include "report/summary/summary.hpp"

namespace windtunnel {

std::vector<SummarySection> idle_sections(const Record& record);

}  // namespace windtunnel

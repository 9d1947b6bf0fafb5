// Watts of what was simulated: of the iteration, and of the campaign around it.
#pragma once

#include "models/power/power_report.hpp"
#include "models/results/record.hpp"

namespace windtunnel {

// The power of a record whose iteration and campaign are there.
PowerReport study_power(const PowerSpec& spec, const Record& record);

}  // namespace windtunnel

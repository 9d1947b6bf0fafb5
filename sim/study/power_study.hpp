// Power of a simulated iteration and of its campaign.
#pragma once

#include "models/power/power_report.hpp"
#include "models/results/record.hpp"

namespace windtunnel {

// For a record with iteration and campaign.
PowerReport study_power(const PowerSpec& spec, const Record& record);

}  // namespace windtunnel

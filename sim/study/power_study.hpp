// Power of a simulated iteration and of its campaign.
#pragma once

#include "models/power/power_report.hpp"
#include "models/results/record.hpp"

namespace windtunnel {

// The record must have an iteration and, if the case asks for one, a campaign.
PowerReport study_power(const PowerSpec& spec, const Record& record);

}  // namespace windtunnel

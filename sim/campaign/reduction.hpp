// The results of a campaign's trials as means with their uncertainty.
#pragma once

#include <vector>

#include "sim/campaign/campaign.hpp"

namespace windtunnel {

// Reduces in the order of trials, so results do not depend on the number of threads. Does not fill
// `tiers` and `interval` of the report.
CampaignReport reduce(const CampaignInputs& inputs, const std::vector<TrialResult>& results);

}  // namespace windtunnel

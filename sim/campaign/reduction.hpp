// The results of a campaign's trials as means with their uncertainty.
#pragma once

#include <vector>

#include "sim/campaign/campaign.hpp"

namespace windtunnel {

// In the order of the trials, so the same bytes however they were computed. `tiers` and
// `interval` of the report are not filled.
CampaignReport reduce(const CampaignInputs& inputs, const std::vector<TrialResult>& results);

}  // namespace windtunnel

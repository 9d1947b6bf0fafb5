// The results of a campaign's replicas as means with their uncertainty.
#pragma once

#include <vector>

#include "sim/campaign/campaign.hpp"

namespace windtunnel {

// In the order of the replicas, so the same bytes however they were computed. `tiers` and
// `interval` of the report are not filled.
CampaignReport reduce(const CampaignInputs& inputs, const std::vector<ReplicaResult>& results);

}  // namespace windtunnel

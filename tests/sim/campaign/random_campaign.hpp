// Random small campaigns contain every mix of failure classes, tier stack and recovery.
#pragma once

#include <cstdint>

#include "sim/campaign/campaign.hpp"

namespace windtunnel {

// These have only the three classic kinds of failure, host memory and storage, waiting and
// shrinking.
CampaignInputs random_plain_campaign(std::uint64_t index);
// Everything that a campaign knows.
CampaignInputs random_campaign(std::uint64_t index);

}  // namespace windtunnel

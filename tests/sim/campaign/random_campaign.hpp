// Random small campaigns contain every mix of failure classes, tier stack and recovery.
#pragma once

#include <cstdint>

#include "sim/campaign/campaign.hpp"

namespace windtunnel {

// These campaigns have only process failures, node failures and planned stops, copies in host
// memory and storage, and the recoveries wait and shrink.
CampaignInputs random_plain_campaign(std::uint64_t index);
// These campaigns may have any feature.
CampaignInputs random_campaign(std::uint64_t index);

}  // namespace windtunnel

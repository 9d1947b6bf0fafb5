// Cost and protection of each snapshot tier of a campaign.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "models/results/campaign_report.hpp"
#include "policies/lowering/prepared_iteration.hpp"
#include "sim/campaign/campaign.hpp"

namespace windtunnel {

// Returns the report of each tier. `inputs`: campaign_inputs() of the job; `report`: result of this
// campaign, with the intervals of tiers that have a rule.
std::vector<TierReport> tier_reports(const Job& job, const PreparedIteration& prepared,
                                     const CampaignInputs& inputs,
                                     const CampaignReport& report = {});

}  // namespace windtunnel

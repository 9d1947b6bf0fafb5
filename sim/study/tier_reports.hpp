// What each snapshot tier of a campaign costs and protects, beside what campaigns make of it.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "models/results/campaign_report.hpp"
#include "policies/lowering/prepared_iteration.hpp"
#include "sim/campaign/campaign.hpp"

namespace windtunnel {

// [tier]. `inputs`: campaign_inputs() of the job; `report`: what campaigns made of them, which says
// how often tiers with a rule save.
std::vector<TierReport> tier_reports(const Job& job, const PreparedIteration& prepared,
                                     const CampaignInputs& inputs,
                                     const CampaignReport& report = {});

}  // namespace windtunnel

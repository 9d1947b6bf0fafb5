// Theory beside simulation: what the formulas say about the interval of the tier whose snapshots
// cost most, what campaigns at such intervals give, and what following the formula costs.
#pragma once

#include "models/campaign_report.hpp"
#include "sim/campaign/campaign.hpp"

namespace windtunnel {

// Nothing where no tier of the stack has an interval and a stall, or nothing fails.
std::optional<IntervalReport> interval_advice(const CampaignInputs& inputs,
                                              const CampaignReport& report, int threads = 0);

}  // namespace windtunnel

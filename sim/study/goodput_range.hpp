// How much a campaign's goodput depends on the cost models: the same failures with iterations and
// snapshots all faster than predicted, and all slower.
#pragma once

#include "models/calibration/prediction_error.hpp"
#include "models/results/campaign_report.hpp"
#include "sim/campaign/campaign.hpp"

namespace windtunnel {

// Scales every time in the table by the factor.
IterationTable scaled(IterationTable table, double factor);

// `report` must be run_campaign(inputs), and predictions may be off by `factors`. Repeats some of
// its trials with the same random numbers and with all times divided or multiplied by the factors:
// paired_goodput().
GoodputRange goodput_range(const CampaignInputs& inputs, const CampaignReport& report,
                           const ErrorFactors& factors, int threads = 0);

}  // namespace windtunnel

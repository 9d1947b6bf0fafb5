// How much a campaign's goodput depends on the cost models: the same failures, with iterations and
// snapshots all faster than predicted, and all slower.
#pragma once

#include "models/calibration/prediction_error.hpp"
#include "models/results/campaign_report.hpp"
#include "sim/campaign/campaign.hpp"

namespace windtunnel {

// Returns the table with every time multiplied by the factor.
IterationTable scaled(IterationTable table, double factor);

// Repeats some trials of `report`, which must be run_campaign(inputs), with the same random numbers
// and with all times divided or multiplied by `factors`, by which predictions may be off:
// paired_goodput().
GoodputRange goodput_range(const CampaignInputs& inputs, const CampaignReport& report,
                           const ErrorFactors& factors, int threads = 0);

}  // namespace windtunnel

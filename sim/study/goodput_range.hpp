// How much a campaign's goodput depends on the cost models: the same failures with iterations and
// snapshots all faster than predicted, and all slower.
#pragma once

#include "models/calibration/prediction_error.hpp"
#include "models/results/campaign_report.hpp"
#include "sim/campaign/campaign.hpp"

namespace windtunnel {

// Multiplies all times of the table by one factor.
IterationTable scaled(IterationTable table, double factor);

// `report` is run_campaign(inputs); `factors`: by which predictions may be off. Some of its trials
// are repeated with the same random numbers and all times divided or multiplied by them:
// paired_goodput().
GoodputRange goodput_range(const CampaignInputs& inputs, const CampaignReport& report,
                           const ErrorFactors& factors, int threads = 0);

}  // namespace windtunnel

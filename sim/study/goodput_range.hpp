// How much of a campaign's goodput hangs on the cost models: the same failures met by a job whose
// iterations and snapshots all take less time than predicted, and by one where they take more.
#pragma once

#include "models/calibration/prediction_error.hpp"
#include "models/results/campaign_report.hpp"
#include "sim/campaign/campaign.hpp"

namespace windtunnel {

// All times of the table by one factor.
IterationTable scaled(IterationTable table, double factor);

// `report` is run_campaign(inputs); `factors` are those by which predictions may be off. Some of
// its trials are played again with all times divided and multiplied by them, under the same random
// numbers: paired_goodput().
GoodputRange goodput_range(const CampaignInputs& inputs, const CampaignReport& report,
                           const ErrorFactors& factors, int threads = 0);

}  // namespace windtunnel

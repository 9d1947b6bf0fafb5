// How much of a campaign's goodput hangs on the cost models: the same failures met by a job whose
// iterations and snapshots all take less time than predicted, and by one where they take more.
#pragma once

#include "models/results/campaign_report.hpp"
#include "sim/campaign/campaign.hpp"

namespace windtunnel {

// All times of the table by one factor.
IterationTable scaled(IterationTable table, double factor);

// `report` is run_campaign(inputs); `factor`, above 1, is the one by which predictions may be off.
// Some of its trials are played again with all times divided and multiplied by it, under the same
// random numbers: paired_goodput().
GoodputRange goodput_range(const CampaignInputs& inputs, const CampaignReport& report,
                           double factor, int threads = 0);

}  // namespace windtunnel

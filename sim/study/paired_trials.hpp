// A campaign under other settings with the same failures. Differences then come from the settings,
// with little noise.
#pragma once

#include <vector>

#include "models/results/campaign_report.hpp"
#include "sim/campaign/campaign.hpp"

namespace windtunnel {

// Returns how many of the campaign's trials to repeat: all, or enough for a hundred thousand
// failures, at least eight. In large jobs every trial meets so many failures that trials are alike.
int paired_trials(const CampaignReport& report);

// Returns the goodput under the settings `other` over `trials` trials of `report`'s campaign,
// corrected for the difference between these trials and the mean of all: regression on a control
// variate (Glasserman, Monte Carlo Methods in Financial Engineering, 2003, section 4.1). Interval
// and quantiles are those of the repeated trials.
Estimate paired_goodput(CampaignInputs other, const CampaignReport& report, int trials,
                        int threads);

// It has this goodput, and that of each trial without the correction.
struct PairedCampaign {
  Estimate goodput;
  std::vector<double> trials;
};
PairedCampaign paired_campaign(CampaignInputs other, const CampaignReport& report, int trials,
                               int threads);

}  // namespace windtunnel

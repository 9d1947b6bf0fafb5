// What a campaign would be under other settings: the same failures are met again, so that what
// differs between two campaigns is the settings' doing and little noise.
#pragma once

#include <vector>

#include "models/results/campaign_report.hpp"
#include "sim/campaign/campaign.hpp"

namespace windtunnel {

// How many of the campaign's trials to play again: all, or those that meet a hundred thousand
// failures, eight at least. In large jobs every trial meets so many that they are all alike.
int paired_trials(const CampaignReport& report);

// Goodput under `other` settings of that many trials of the campaign that `report` is of, moved by
// what those trials differ by from the mean of all, as far as that shows in them: the estimate by
// regression on a control variate (Glasserman, Monte Carlo Methods in Financial Engineering, 2003,
// section 4.1). Its interval and quantiles are those of the trials that were played.
Estimate paired_goodput(CampaignInputs other, const CampaignReport& report, int trials,
                        int threads);

// The same, and the goodput of each trial as it was played.
struct PairedCampaign {
  Estimate goodput;
  std::vector<double> trials;
};
PairedCampaign paired_campaign(CampaignInputs other, const CampaignReport& report, int trials,
                               int threads);

}  // namespace windtunnel

// Theory beside simulation. For the tier whose snapshots and lost work cost most it says which
// interval each formula asks for (models/reliability/interval_theory.hpp), what campaigns at these
// intervals give, and what following a formula would cost. Which failures the formulas count, and
// how intervals are limited: docs/physics/campaign.md, "How often to save, by formula".
#pragma once

#include <optional>
#include <vector>

#include "models/results/campaign_report.hpp"
#include "sim/campaign/campaign.hpp"

namespace windtunnel {

// The shortest interval at which saving to storage keeps to its share of the bandwidth
// (StorageSpec::share); 0: the tier saves elsewhere.
double storage_interval_s(const CampaignInputs& inputs, std::size_t tier);

// `report`: of these inputs; the shares restored from each tier are taken from it. Nothing where no
// failure goes back to a tier with an interval, and with elastic groups, which go on without.
std::optional<IntervalReport> interval_advice(const CampaignInputs& inputs,
                                              const CampaignReport& report, int threads = 0);

// The same of each other tier that saves at intervals; without formulas where no failure went back
// to it.
std::vector<IntervalReport> other_interval_advice(const CampaignInputs& inputs,
                                                  const CampaignReport& report, int threads = 0);

}  // namespace windtunnel

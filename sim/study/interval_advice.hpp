// Compares theory with simulation, for the tier whose snapshots and lost work cost most: the
// interval by each formula (models/reliability/interval_theory.hpp), the goodput of campaigns at
// these intervals, and the cost of following a formula. Which failures the formulas count, and
// limits of intervals: docs/physics/campaign.md, "How often to save, by formula".
#pragma once

#include <optional>
#include <vector>

#include "models/results/campaign_report.hpp"
#include "sim/campaign/campaign.hpp"

namespace windtunnel {

// Returns the shortest interval at which snapshots stay within their share of the storage bandwidth
// (StorageSpec::share); 0: the tier does not use storage.
double storage_interval_s(const CampaignInputs& inputs, std::size_t tier);

// `report`: campaign of these inputs, from which the shares that restored each tier are taken.
// Empty if no failure goes back to a tier with an interval, and for elastic groups, which go on.
std::optional<IntervalReport> interval_advice(const CampaignInputs& inputs,
                                              const CampaignReport& report, int threads = 0);

// Returns the same for each other tier that saves at intervals, without formulas if no failure went
// back to the tier.
std::vector<IntervalReport> other_interval_advice(const CampaignInputs& inputs,
                                                  const CampaignReport& report, int threads = 0);

}  // namespace windtunnel

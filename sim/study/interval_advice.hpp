// Theory beside simulation: what the formulas say about the interval of the tier whose snapshots
// and lost work cost most, what campaigns at such intervals give, and what following the formula
// costs. Of several tiers each has its own failures, those that are restored from it: the formulas
// know of this tier's alone (as in two_level_young), campaigns of all. Tiers of one place count as
// one.
//
// Intervals are the work between two snapshots. None can be shorter than an iteration or than the
// time until the copy is complete, as the next one would be skipped, nor longer than the campaign:
// formulas that ask for less or more get these. Where snapshots stall nothing the formulas ask for
// 0, so the advice is to save as often as the copies complete.
//
// A copy that is complete C after the start of a stall of d can be restored C - d after the
// stall: for the formulas a restart that is longer by that, which for exponential failures is exact
// (tests/sim/campaign/campaign_theory_test.cpp) and leaves the optimum where it is.
#pragma once

#include "models/results/campaign_report.hpp"
#include "sim/campaign/campaign.hpp"

namespace windtunnel {

// `report`: of these inputs; the shares restored from each tier are taken from it. Nothing where no
// failure goes back to a tier with an interval, and with elastic groups, which go on without.
std::optional<IntervalReport> interval_advice(const CampaignInputs& inputs,
                                              const CampaignReport& report, int threads = 0);

}  // namespace windtunnel

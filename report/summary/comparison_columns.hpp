// Which figures a comparison of points shows: of the iteration always, of protection and goodput
// where the points have campaigns. The page shows all of them, the console some of the iteration.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/figures/figures.hpp"
#include "report/summary/comparison.hpp"
#include "report/summary/summary.hpp"

namespace windtunnel {

// The first is the step time.
std::vector<const Figure*> iteration_columns(const Comparison& comparison);
// MFU, and behind it the same with causal attention in half where that is another figure of any.
std::vector<const Figure*> mfu_columns(const std::vector<const Record*>& records);
// The seconds of each step on the critical path, by what they are spent on: a row per point, whose
// parts add up to the step time in the last column. Nothing where protection alone varies.
std::optional<SummarySection> step_parts(const Comparison& comparison);
// Columns of protection, if a varied key is one of snapshots, failures or recovery and the points
// have tiers; then days to a target quality and goodput, if the points have them; goodput stands
// last.
std::vector<const Figure*> further_columns(const Comparison& comparison);

// Whether all that is varied is protection: then points rank by goodput, not by step time, and what
// protection does not change is no news.
bool varies_protection_only(const Comparison& comparison);
const Figure& ranking_figure(const Comparison& comparison);

// Speed-up by what is trained in a second, or by time for the same number of steps if the scenario
// gives one (job.steps); for engines and learner by the samples of their loop.
double speed_up(const Record& reference, const Record& record);
// "speed-up", or of what, where it is not of the step time that stands beside it.
std::string speed_up_title(const Comparison& comparison);

// What the figures of all points are sure to: the error of each cost model, after the trials that
// campaigns have, in a row of that label.
std::vector<SummaryRow> certainty_rows(const Comparison& comparison, const std::string& label);

}  // namespace windtunnel

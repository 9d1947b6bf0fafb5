// Selects the figures in a comparison of points: always those of the iteration, and those of
// protection and goodput if the points have campaigns. The page shows all, the console some of the
// iteration's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/results/record.hpp"
#include "models/results/speed_up.hpp"
#include "report/figures/figures.hpp"
#include "report/summary/summary.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/sweep.hpp"

namespace windtunnel {

// The points of a compare, each with its result or the reason why it has none.

struct ComparedPoint {
  Overrides set;                 // the varied keys, in the order of the command line
  std::optional<Record> record;  // none: infeasible
  std::string reason;
};

struct Comparison {
  std::vector<VariedKey> vary;
  std::vector<ComparedPoint> points;  // in the order of the cross product
};

// The first column is the step time.
std::vector<const Figure*> iteration_columns(const Comparison& comparison);
// MFU, and MFU with causal attention counted in half if that differs for some record.
std::vector<const Figure*> mfu_columns(const std::vector<const Record*>& records);
// The seconds of each step on the critical path by use: a row per point, whose parts add up to the
// step time in the last column. Nothing if only protection varies.
std::optional<SummarySection> step_parts(const Comparison& comparison);
// Columns of protection, if a varied key is one of snapshots, failures or recovery and the points
// have tiers; then days to a target quality and goodput, if the points have them; goodput is last.
std::vector<const Figure*> further_columns(const Comparison& comparison);

// Whether only protection varies. Points then rank by goodput instead of step time, and figures
// that protection cannot change are not shown.
bool varies_protection_only(const Comparison& comparison);
const Figure& ranking_figure(const Comparison& comparison);

// Speed-up in training throughput, or in time for the same number of steps if the scenario gives
// one (job.steps); for engines with a learner, in samples per time of their loop.
double speed_up(const Record& reference, const Record& record);
// The same over the first point that could be simulated, with the interval that measured runs with
// such differences have. None without such runs: for the points of a loop, and for the first.
std::optional<SpeedUp> judged_speed_up(const Comparison& comparison, const ComparedPoint& point);
// "speed-up", with its quantity unless that is the step time in the column before.
std::string speed_up_title(const Comparison& comparison);

// How certain the figures of all points are: the number of trials of campaigns, then the error of
// each cost model, in rows with this label.
std::vector<SummaryRow> certainty_rows(const Comparison& comparison, const std::string& label);

}  // namespace windtunnel

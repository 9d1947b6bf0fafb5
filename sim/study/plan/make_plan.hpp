// From a machine, a model and a number of tokens to a training that one can start: layout,
// micro-batch, recomputation and schedule by optimise(); nodes kept as spares, the stack of
// snapshot tiers and how often it saves, and what happens when no spare is left by simulated
// campaigns. What counts is progress: tokens per second of the steps, times goodput; all nodes of
// the cluster are paid for, so that the fastest is also the cheapest.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/base/units.hpp"
#include "models/results/record.hpp"
#include "sim/study/plan/plan_basis.hpp"

namespace windtunnel {

// The share of progress that a further part that can break has to gain. Among stacks of tiers the
// simplest within this of the best is taken.
inline constexpr double kPlanAsGood = 2e-3;
// Intervals of the tier on storage. Among those that are as good as the best (is_as_good()) the
// longest is taken, because it loads the storage least.
inline constexpr double kPlanShortestInterval_s = 5 * kMinute_s;
inline constexpr double kPlanLongestInterval_s = 4 * kHour_s;

// A training that was looked at.
struct PlanOption {
  PlanPoint point;
  double step_s = 0;
  double tokens_per_s = 0;
  std::optional<Estimate> goodput = {};  // over trials; nothing: only estimated, as too slow
  double days = 0;                       // of the training, mean over trials; 0: likewise
  double memory_bytes = 0;               // of the fullest GPU
  double as_good_from_s = 0;             // the shortest interval on storage that is as good

  double progress_tokens_per_s() const { return goodput ? tokens_per_s * goodput->mean : 0; }
};

struct PlanReport;

// The number of nodes that a goal takes: the fewest that meet the deadline, the most that the
// budget pays for, by the mean of the trials. Tried are eighths of powers of two and the number
// that was asked for, up to kMostPlanNodes.
struct NodesForGoal {
  // the plan on that number of nodes, or on the nearest one
  std::shared_ptr<const PlanReport> plan = {};
  bool met = false;
  std::string why = {};  // where it is not: what stands in the way of going further; may be empty
};
inline constexpr int kMostPlanNodes = 16384;

struct PlanReport {
  PlanBasis basis;
  PlanOption best;
  Record record;         // of the best, simulated as `windtunnel run` does
  std::string scenario;  // its text, commented
  // The best training with another layout; nothing: no other one fits.
  std::optional<PlanOption> runner_up;
  std::optional<Record> runner_up_record;
  // Where no measured run has a layout like the best: the best of those that some run has.
  std::optional<PlanOption> like_measured;
  std::optional<Record> like_measured_record;
  // The best of each number of spares and of each layout, with copies on storage alone; then of
  // each stack of tiers, and each way to go on without a spare.
  std::vector<PlanOption> spares, layouts, snapshots, without_spare;
  // The plan, and the same with a few more nodes than were asked for, as spares.
  std::vector<PlanOption> more_nodes;
  std::vector<Note> decisive;           // numbers that were taken, and move the goodput most
  std::vector<std::string> impossible;  // stacks of tiers that cannot be, and why
  std::int64_t estimated = 0;           // configurations
  std::optional<NodesForGoal> for_days, for_budget;  // where they are asked
};

// Throws Error where the request cannot be read, and (exit code 1) where no layout fits.
PlanReport make_plan(const PlanRequest& request);

// A scenario on all nodes with the layout that is fastest in closed form, and a comment on each of
// its parts.
struct FirstScenario {
  std::string text;
  PlanBasis basis;
};
// Throws Error as make_plan() does.
FirstScenario first_scenario(const PlanRequest& request);

// USD of the training with this option, spares included.
double usd_of(const PlanBasis& basis, const PlanOption& option);

}  // namespace windtunnel

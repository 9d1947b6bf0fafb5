// From a machine, a model and a number of tokens to a runnable training. optimise() chooses layout,
// micro-batch, recomputation and schedule. Simulated campaigns choose the number of spares, the
// snapshot tiers with their intervals, and what happens when no spare is left. The objective is
// progress: tokens per second of the steps, times goodput. All nodes of the cluster are paid for,
// so the fastest plan is also the cheapest.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/base/units.hpp"
#include "models/results/record.hpp"
#include "sim/study/plan/plan_basis.hpp"

namespace windtunnel {

// Least relative gain that justifies an additional mechanism. Among stacks of tiers within this of
// the best, the simplest is taken.
inline constexpr double kPlanAsGood = 2e-3;
// Limits of the interval of the tier on storage. Among intervals that are as good as the best
// (is_as_good()) the longest is taken, because it loads the storage least.
inline constexpr double kPlanShortestInterval_s = 5 * kMinute_s;
inline constexpr double kPlanLongestInterval_s = 4 * kHour_s;

// A training that was considered.
struct PlanOption {
  PlanPoint point;
  double step_s = 0;
  double tokens_per_s = 0;
  // over trials; empty: it is only estimated, because it is too slow
  std::optional<Estimate> goodput = {};
  double days = 0;          // of the training, mean over trials; 0: it is only estimated
  double memory_bytes = 0;  // of the fullest GPU
  double too_big = 0;       // chance that memory_bytes do not fit, by the error of predicted memory
  double as_good_from_s = 0;  // shortest interval of the tier on storage that is as good

  double progress_tokens_per_s() const { return goodput ? tokens_per_s * goodput->mean : 0; }
};

struct PlanReport;

// The number of nodes for a goal: the fewest that meet the deadline, or the most that the budget
// pays for, by the mean of the trials. Candidates are eighths of powers of two and the requested
// number, up to kMostPlanNodes.
struct NodesForGoal {
  // the plan that meets the goal, or else comes nearest to it
  std::shared_ptr<const PlanReport> plan = {};
  bool met = false;
  std::string why = {};  // if not met: what prevents a better number; may be empty
};
inline constexpr int kMostPlanNodes = 16384;

// Goodput of the plan if nodes fail as seldom or as often as on other clusters. 90 % of the rates
// of other clusters lie within `factor` of the rates that the plan takes.
struct GoodputElsewhere {
  double factor = 1;
  double seldom = 0;
  double often = 0;
};

struct PlanReport {
  PlanBasis basis;
  PlanOption best;
  Record record;         // of the best, simulated as by `windtunnel run`
  std::string scenario;  // text of the scenario, with comments
  // The best training with another layout; empty: no other layout fits.
  std::optional<PlanOption> runner_up;
  std::optional<Record> runner_up_record;
  // Only if no measured run has a layout like the best one: the best of those with measured runs.
  std::optional<PlanOption> like_measured;
  std::optional<Record> like_measured_record;
  // The best for each number of spares and for each layout, with copies only on storage; then for
  // each stack of tiers, and for each way to go on without a spare.
  std::vector<PlanOption> spares, layouts, snapshots, without_spare;
  // The plan, and the fastest that fits with a chance of 95 %; empty: the plan itself does.
  std::vector<PlanOption> room;
  double roomy = 0;  // share of a GPU's memory that stays free in the second of `room`
  // The plan, and the fastest in fp8 on the same nodes. Empty: the user states a precision, the GPU
  // or the software has no fp8, or no layout fits.
  std::vector<PlanOption> precisions;
  // The plan, and what it becomes if a few more nodes are bought as spares.
  std::vector<PlanOption> more_nodes;
  std::vector<Note> decisive;                        // defaults that affect the goodput most
  std::optional<GoodputElsewhere> elsewhere;         // empty: the user states rates of failures
  std::vector<std::string> impossible;               // stacks of tiers that are not possible: why
  std::int64_t estimated = 0;                        // number of configurations
  std::optional<NodesForGoal> for_days, for_budget;  // empty: no such goal
};

// Throws Error if the request is invalid; also (exit code 1) if no layout fits.
PlanReport make_plan(const PlanRequest& request);
using TooSlow = std::function<bool(const PlanBasis& basis, const PlanOption& without_failures)>;
// Returns only the choice, its record and its scenario; more_nodes, room, precisions, runner_up,
// decisive, elsewhere and the goals remain empty. Returns nothing if the layout is `too_slow` even
// without failures, which is known before snapshots are chosen.
std::optional<PlanReport> best_of_plan(const PlanRequest& request, const TooSlow& too_slow);

// A scenario on all nodes with the fastest layout in closed form, and a comment on each of its
// parts.
struct FirstScenario {
  std::string text;
  PlanBasis basis;
};
// Throws Error as make_plan() does.
FirstScenario first_scenario(const PlanRequest& request);

// Returns the USD of the training with this option, with spares.
double usd_of(const PlanBasis& basis, const PlanOption& option);

}  // namespace windtunnel

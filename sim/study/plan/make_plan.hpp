// From a machine, a model and a number of tokens to a runnable training: optimise() chooses layout,
// micro-batch, recomputation and schedule; simulated campaigns choose the number of spares, the
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

// Minimum relative gain that justifies an additional mechanism. Among stacks of tiers the simplest
// within this of the best is taken.
inline constexpr double kPlanAsGood = 2e-3;
// Limits of the interval of the tier on storage. Among intervals as good as the best (is_as_good())
// the longest is taken, because it loads the storage least.
inline constexpr double kPlanShortestInterval_s = 5 * kMinute_s;
inline constexpr double kPlanLongestInterval_s = 4 * kHour_s;

// A training that was considered.
struct PlanOption {
  PlanPoint point;
  double step_s = 0;
  double tokens_per_s = 0;
  // over trials; empty: only estimated, because it is too slow
  std::optional<Estimate> goodput = {};
  double days = 0;          // of the training, mean over trials; 0: only estimated
  double memory_bytes = 0;  // of the fullest GPU
  double too_big = 0;       // chance that these bytes do not fit, by the error of predicted memory
  double as_good_from_s = 0;  // shortest interval on storage that is as good

  double progress_tokens_per_s() const { return goodput ? tokens_per_s * goodput->mean : 0; }
};

struct PlanReport;

// The number of nodes for a goal: the fewest that meet the deadline, or the most that the budget
// pays for, by the mean of the trials. Candidates are eighths of powers of two and the requested
// number, up to kMostPlanNodes.
struct NodesForGoal {
  // the plan on the number of nodes that meets the goal, or else comes nearest to it
  std::shared_ptr<const PlanReport> plan = {};
  bool met = false;
  std::string why = {};  // if not met: what prevents going further; may be empty
};
inline constexpr int kMostPlanNodes = 16384;

// Goodput of the plan where nodes fail as seldom and as often as on other clusters: 90 % of their
// rates lie within `factor` of the rates taken.
struct GoodputElsewhere {
  double factor = 1;
  double seldom = 0;
  double often = 0;
};

struct PlanReport {
  PlanBasis basis;
  PlanOption best;
  Record record;         // of the best, simulated as `windtunnel run` does
  std::string scenario;  // its text, commented
  // The best training with another layout; empty: no other one fits.
  std::optional<PlanOption> runner_up;
  std::optional<Record> runner_up_record;
  // If no measured run has a layout like the best one: the best of those with measured runs.
  std::optional<PlanOption> like_measured;
  std::optional<Record> like_measured_record;
  // The best for each number of spares and for each layout, with copies only on storage; then for
  // each stack of tiers, and each way to continue without a spare.
  std::vector<PlanOption> spares, layouts, snapshots, without_spare;
  // The plan, and the fastest that fits with a chance of 95 %; empty: the plan does so itself.
  std::vector<PlanOption> room;
  double roomy = 0;  // the share of a GPU's memory that stays free in the second of `room`
  // The plan, and the fastest in fp8 on the same nodes; empty: the user states a precision, the GPU
  // or the software has no fp8, or no layout fits.
  std::vector<PlanOption> precisions;
  // The plan, and the same plan if a few more nodes were bought as spares.
  std::vector<PlanOption> more_nodes;
  std::vector<Note> decisive;                        // defaults that affect the goodput most
  std::optional<GoodputElsewhere> elsewhere;         // empty: the user states rates of failures
  std::vector<std::string> impossible;               // impossible stacks of tiers, with reasons
  std::int64_t estimated = 0;                        // configurations
  std::optional<NodesForGoal> for_days, for_budget;  // empty: no such goal
};

// Throws Error if the request is invalid, and (exit code 1) if no layout fits.
PlanReport make_plan(const PlanRequest& request);
using TooSlow = std::function<bool(const PlanBasis& basis, const PlanOption& without_failures)>;
// Returns only the choice, its record and its scenario: more_nodes, room, precisions, runner_up,
// decisive, elsewhere and the goals stay empty. Returns nothing if the layout is `too_slow` even
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

// USD of the training with this option, spares included.
double usd_of(const PlanBasis& basis, const PlanOption& option);

}  // namespace windtunnel

#include "sim/study/plan/goal_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

// Returns the error's text on one line, without the list below it.
std::string in_a_line(const Error& error) {
  std::string why(error.text());
  why.resize(std::min(why.find(", as: "), why.size()));
  for (std::size_t at; (at = why.find("\n  ")) != why.npos;) why.replace(at, 3, " ");
  return why;
}

}  // namespace

GoalSearch::GoalSearch(const PlanReport& plan, Estimate tokens_per_s)
    : plan_(plan), tokens_per_s_(std::move(tokens_per_s)) {}

NodesForGoal GoalSearch::for_days(double days) {
  return nodes_for({.limit = days,
                    .towards = 1,
                    .of = [](const PlanBasis&, const PlanOption& option) { return option.days; }});
}

NodesForGoal GoalSearch::for_budget(double usd) {
  return nodes_for({.limit = usd, .towards = -1, .of = usd_of});
}

// Returns the goal's quantity for a training on `nodes` nodes: the value of the present plan,
// scaled by the ratio of the closed forms. Nothing: no layout fits or shares the batch.
std::optional<double> GoalSearch::estimated(const Goal& goal, int nodes) {
  const int planned = plan_.basis.request.nodes;
  const double here = tokens_per_s_on(planned);
  const double there = nodes == planned ? here : tokens_per_s_on(nodes);
  if (!(here > 0) || !(there > 0)) return std::nullopt;
  PlanOption option = plan_.best;
  option.days *= here / there;
  const double of_all = goal.of(plan_.basis, option);
  // Cost also grows with the number of nodes that are paid for.
  return goal.towards > 0 ? of_all : of_all * nodes / planned;
}

double GoalSearch::tokens_per_s_on(int nodes) {
  const auto [known, is_new] = known_.try_emplace(nodes, 0.0);
  if (!is_new) return known->second;
  try {
    known->second = tokens_per_s_(nodes);
  } catch (const Error& error) {
    if (error.code() != ExitCode::failed) throw;
    unfit_.try_emplace(nodes, in_a_line(error));
  }
  return known->second;
}

// Returns the numbers of nodes to try: 1 .. 16, 18, 20, ... 32, 36, ...
std::vector<int> GoalSearch::numbers_of_nodes() const {
  std::vector<int> numbers = {plan_.basis.request.nodes};
  for (int step = 1; step * 8 <= kMostPlanNodes; step *= 2) {
    for (int eighth = step == 1 ? 1 : 8; eighth < 16; ++eighth) {
      if (eighth * step <= kMostPlanNodes) numbers.push_back(eighth * step);
    }
  }
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

// Doubles in the closed form, then checks numbers one by one for the first that meets the goal,
// starting where the goal is hardest to meet.
NodesForGoal GoalSearch::nodes_for(const Goal& goal) {
  std::vector<int> numbers = numbers_of_nodes();
  if (goal.towards < 0) std::ranges::reverse(numbers);
  const auto here = std::ranges::find(numbers, plan_.basis.request.nodes) - numbers.begin();
  const std::ptrdiff_t last = std::ssize(numbers) - 1;
  constexpr std::ptrdiff_t kOctave = 8;
  const auto meets = [&](std::ptrdiff_t at) {
    const std::optional<double> value = estimated(goal, numbers[at]);
    return value && *value <= goal.limit;
  };
  std::ptrdiff_t hard = here, easy = here;
  while (hard > 0 && meets(hard)) {
    easy = hard;
    hard = std::max<std::ptrdiff_t>(0, hard - kOctave);
  }
  while (easy < last && !meets(easy) && estimated(goal, numbers[easy])) {
    hard = easy;
    easy = std::min(last, easy + kOctave);
  }
  while (hard < easy && !meets(hard)) ++hard;
  if (meets(hard)) return tried_from(goal, numbers, hard);
  return none_for(goal, numbers);
}

std::shared_ptr<const PlanReport> GoalSearch::plan_within(const Goal& goal, int nodes) const {
  PlanRequest request = plan_.basis.request;
  if (nodes == request.nodes) return std::make_shared<const PlanReport>(plan_);
  request.nodes = nodes;
  if (request.progress) request.progress(fmt::format("planning on {} nodes", nodes));
  const auto too_slow = [&](const PlanBasis& basis, const PlanOption& without_failures) {
    return goal.of(basis, without_failures) > goal.limit;
  };
  try {
    std::optional<PlanReport> plan = best_of_plan(request, too_slow);
    return plan ? std::make_shared<const PlanReport>(*std::move(plan)) : nullptr;
  } catch (const Error& error) {
    if (error.code() != ExitCode::failed) throw;
    return nullptr;
  }
}

// Full plans decide, because the closed form ignores failures. If the number at `at` meets the
// goal, also tries numbers before it, with which the goal is harder to meet.
NodesForGoal GoalSearch::tried_from(const Goal& goal, const std::vector<int>& numbers,
                                    std::ptrdiff_t at) {
  constexpr int kMostPlans = 4;
  NodesForGoal found;
  int step = 1;
  for (int plans = 0; plans < kMostPlans && at >= 0 && at < std::ssize(numbers); ++plans) {
    auto plan = plan_within(goal, numbers[at]);
    const bool meets = plan != nullptr && goal.of(plan->basis, plan->best) <= goal.limit;
    if (meets) found = {.plan = std::move(plan), .met = true};
    if (meets && plans == 0) step = -1;
    if (meets == (step > 0)) break;
    at += step;
  }
  return found.met ? found : none_for(goal, numbers);
}

// Returns the nearest candidate, and says what prevents a better one.
NodesForGoal GoalSearch::none_for(const Goal& goal, const std::vector<int>& numbers) {
  int nearest = plan_.basis.request.nodes;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [nodes, tokens_per_s] : known_) {
    const double value = estimated(goal, nodes).value_or(least);
    if (value < least) std::tie(least, nearest) = std::tuple(value, nodes);
  }
  const double own = goal.of(plan_.basis, plan_.best);
  // The number that is nearest in the closed form may be worse in a full plan than the present one.
  NodesForGoal found{.plan = plan_within({own, goal.towards, goal.of}, nearest)};
  if (!found.plan || own < goal.of(found.plan->basis, found.plan->best)) {
    found.plan = std::make_shared<const PlanReport>(plan_);
  }
  found.met = goal.of(found.plan->basis, found.plan->best) <= goal.limit;
  const auto at = std::ranges::find(numbers, nearest);
  const auto unfit =
      std::find_if(at, numbers.end(), [&](int nodes) { return unfit_.contains(nodes); });
  if (!found.met && unfit != numbers.end()) {
    found.why = fmt::format("on {} nodes {}", *unfit, unfit_.at(*unfit));
  }
  return found;
}

}  // namespace windtunnel

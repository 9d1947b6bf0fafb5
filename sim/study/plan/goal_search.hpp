// Finds the number of nodes that meets a goal of a plan: a deadline in days, or a budget. The
// closed form gives candidates; plans on these numbers of nodes decide.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/study/plan/make_plan.hpp"

namespace windtunnel {

// Searches for both goals with the same results of the closed form.
class GoalSearch {
 public:
  // Returns the tokens per second of the fastest layout on `nodes` nodes. Throws Error (exit code
  // 1) if none is possible.
  using Estimate = std::function<double(int nodes)>;

  // `plan` is complete except for its goals, and must outlive the search.
  GoalSearch(const PlanReport& plan, Estimate tokens_per_s);

  // Returns the fewest nodes that finish within `days`.
  NodesForGoal for_days(double days);
  // Returns the most nodes that `usd` pays for.
  NodesForGoal for_budget(double usd);

 private:
  // A limit on days or USD, and the direction in which it is easier to meet.
  struct Goal {
    double limit = 0;
    int towards = 1;  // 1: more nodes; -1: fewer nodes
    double (*of)(const PlanBasis& basis, const PlanOption& option) = nullptr;
  };

  // Returns the best training on `nodes` nodes; null: nothing fits, or nothing meets the limit. It
  // may also return one that does not meet the limit.
  std::shared_ptr<const PlanReport> plan_within(const Goal& goal, int nodes) const;
  NodesForGoal nodes_for(const Goal& goal);
  NodesForGoal tried_from(const Goal& goal, const std::vector<int>& numbers, std::ptrdiff_t at);
  NodesForGoal none_for(const Goal& goal, const std::vector<int>& numbers);
  std::optional<double> estimated(const Goal& goal, int nodes);
  double tokens_per_s_on(int nodes);
  std::vector<int> numbers_of_nodes() const;

  const PlanReport& plan_;
  Estimate tokens_per_s_;
  std::map<int, double> known_;       // [number of nodes] tokens per second; 0: no layout
  std::map<int, std::string> unfit_;  // [number of nodes] why no layout is possible
};

}  // namespace windtunnel

#include "policies/search/schedule_bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "models/base/error.hpp"
#include "models/base/random.hpp"
#include "policies/evaluation/schedule_evaluator.hpp"
#include "policies/schedules/generators.hpp"

namespace windtunnel {
namespace {

using Orders = std::vector<std::vector<Action>>;

// Every order of F, I and W for the given stages of one rank. With `fifo`, units of a stage and
// kind run in their order, which excludes only renamings.
Orders all_orders(const std::vector<int>& stages, int units, bool fifo) {
  Orders orders;
  std::vector<Action> order;
  const size_t cells = stages.size() * units;
  std::vector<int> done(cells, 0);  // kinds done by [stage * units + unit]
  const std::function<void()> extend = [&] {
    if (order.size() == 3 * cells) {
      orders.push_back(order);
      return;
    }
    for (size_t s = 0; s < stages.size(); ++s) {
      for (int unit = 0; unit < units; ++unit) {
        int& kinds = done[s * units + unit];
        if (kinds == 3) continue;
        if (fifo && unit > 0 && done[s * units + unit - 1] <= kinds) continue;
        constexpr ActionKind kKinds[] = {ActionKind::forward, ActionKind::backward_input,
                                         ActionKind::backward_weight};
        order.emplace_back(kKinds[kinds], stages[s], unit);
        ++kinds;
        extend();
        --kinds;
        order.pop_back();
      }
    }
  };
  extend();
  return orders;
}

struct Best {
  double longest_stage_s = std::numeric_limits<double>::infinity();
  double makespan_s = std::numeric_limits<double>::infinity();
};

bool fits(const ScheduleRequest& request, const std::vector<Action>& order) {
  double held = 0;
  for (const Action& action : order) {
    const StageCost& cost = request.costs[action.stage];
    if (action.kind == ActionKind::forward) held += cost.activation;
    if (held > request.memory_limit + 1e-9) return false;
    if (action.kind == ActionKind::backward_input) held -= cost.activation - cost.weight_activation;
    if (action.kind == ActionKind::backward_weight) held -= cost.weight_activation;
  }
  return true;
}

// Evaluates every combination of the ranks' orders.
Best best_of_all(const ScheduleRequest& request, const std::vector<int>& rank_of_stage, bool fifo) {
  std::vector<Orders> orders(request.ranks);
  for (int rank = 0; rank < request.ranks; ++rank) {
    std::vector<int> stages;
    for (int s = 0; s < static_cast<int>(rank_of_stage.size()); ++s) {
      if (rank_of_stage[s] == rank) stages.push_back(s);
    }
    orders[rank] = all_orders(stages, request.microbatches, fifo);
    std::erase_if(orders[rank], [&](const auto& order) { return !fits(request, order); });
  }
  Schedule schedule = empty_schedule("", request);
  schedule.rank_of_stage = rank_of_stage;
  Best best;
  const std::function<void(int)> choose = [&](int rank) {
    if (rank == request.ranks) {
      try {
        const auto evaluation = evaluate_schedule(schedule, request.costs, request.message_s);
        best.longest_stage_s = std::min(best.longest_stage_s, evaluation.longest_stage_s);
        best.makespan_s = std::min(best.makespan_s, evaluation.makespan_s);
      } catch (const Error&) {  // deadlock
      }
      return;
    }
    for (const auto& order : orders[rank]) {
      schedule.actions[rank] = order;
      choose(rank + 1);
    }
  };
  choose(0);
  return best;
}

ScheduleRequest random_request(RandomStream& random, int ranks, int units, int chunks) {
  ScheduleRequest request{.ranks = ranks, .microbatches = units, .chunks = chunks};
  const bool equal = random.uniform() < 0.5;
  for (int s = 0; s < ranks * chunks; ++s) {
    StageCost cost{0.5 + random.uniform(), 0.5 + random.uniform(), 0.2 + random.uniform()};
    cost.activation = 0.5 + random.uniform();
    cost.weight_activation = cost.activation * random.uniform();
    request.costs.push_back(equal && s > 0 ? request.costs.front() : cost);
  }
  request.message_s = random.uniform() < 0.5 ? 0 : 0.3 * random.uniform();
  double least = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    double activation = 0;
    for (int c = 0; c < chunks; ++c) activation += request.costs[c * ranks + rank].activation;
    least = std::max(least, activation);
  }
  if (chunks == 2) least *= 2;  // enough for any placement
  request.memory_limit = least * (1 + (units - 1) * random.uniform());
  return request;
}

void expect_bounded(const ScheduleRequest& request, const std::vector<int>& rank_of_stage,
                    const Best& best, int& tight) {
  const ScheduleBound bound = schedule_bound(request, rank_of_stage);
  EXPECT_LE(bound.longest_stage_s, best.longest_stage_s * (1 + 1e-9))
      << bound.longest_stage_because;
  EXPECT_LE(bound.makespan_s, best.makespan_s * (1 + 1e-9)) << bound.makespan_because;
  EXPECT_GT(bound.longest_stage_s, 0);
  if (bound.makespan_s > best.makespan_s * (1 - 1e-9)) ++tight;
}

TEST(ScheduleBounds, NotAboveTheBestOfAllOrders) {
  RandomStream random(1, RandomPurpose::test, 0);
  int tight = 0;
  int cases = 0;
  const auto check = [&](int ranks, int units, int chunks, Placement placement, bool fifo) {
    const ScheduleRequest request = random_request(random, ranks, units, chunks);
    const auto rank_of_stage = empty_schedule("", request, placement).rank_of_stage;
    const Best best = best_of_all(request, rank_of_stage, fifo);
    if (best.makespan_s == std::numeric_limits<double>::infinity()) return;  // no order fits
    ++cases;
    expect_bounded(request, rank_of_stage, best, tight);
  };
  for (int i = 0; i < 10; ++i) {
    check(2, 2, 1, Placement::looped, false);
    check(2, 3, 1, Placement::looped, true);
    check(2, 4, 1, Placement::looped, true);
    check(2, 1, 2, Placement::vee, true);
    check(2, 1, 2, Placement::looped, true);
  }
  for (int i = 0; i < 3; ++i) {
    check(3, 2, 1, Placement::looped, false);
    check(3, 1, 2, Placement::vee, true);
    check(1, 2, 2, Placement::looped, true);
  }
  EXPECT_GE(cases, 50);
  // The bound is tight: in many cases the best order reaches it.
  EXPECT_GE(tight, cases / 3);
}

// Qi et al. (arXiv 2401.10241), appendix B: with k forwards in memory the first rank waits
// (p-1)(T_I + 2 T_c) + (p-k) T_F before its first input gradient. At the end memory need not force
// any wait.
TEST(ScheduleBounds, HoldsTheWaitOfTheFirstRankByHand) {
  ScheduleRequest request{.ranks = 4, .microbatches = 40, .chunks = 1};
  request.costs.assign(4, {1, 1.2, 0.7, 1, 0});
  request.message_s = 0.1;
  request.memory_limit = 6;
  const ScheduleBound bound = schedule_bound(request, {0, 1, 2, 3});
  const double wait_s = 3 * (1.2 + 0.2) + (4 - 6) * 1.0;
  EXPECT_GE(bound.longest_stage_s, 40 * 2.9 + wait_s - 1e-9);
  request.memory_limit = 0;
  EXPECT_NEAR(schedule_bound(request, {0, 1, 2, 3}).longest_stage_s, 40 * 2.9, 1e-9);
  // A single micro-batch goes down and back, followed by the last weight gradient.
  request.microbatches = 1;
  EXPECT_NEAR(schedule_bound(request, {0, 1, 2, 3}).makespan_s, 4 * 2.2 + 6 * 0.1 + 0.7, 1e-9);
}

}  // namespace
}  // namespace windtunnel

#include "policies/search/periodic_schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "policies/evaluation/schedule_evaluator.hpp"
#include "policies/evaluation/schedule_validator.hpp"

namespace windtunnel {
namespace {

// With one chunk a rank's forward pass and input gradient enclose those of the next rank, so that p
// micro-batches are in flight without loss, and the period equals the work.
TEST(PeriodicOrders, OneChunkHoldsThePipelinesDepth) {
  for (const int ranks : {1, 2, 5, 9}) {
    ScheduleRequest request{.ranks = ranks, .microbatches = 3 * ranks, .chunks = 1};
    request.costs.assign(ranks, {1, 1, 1, 1, 0.5});
    const auto orders = periodic_orders(request);
    ASSERT_EQ(orders.size(), 1U);
    EXPECT_NEAR(orders.front().peak_activation, ranks, 1e-9);
    EXPECT_NEAR(orders.front().period_s, 3, 1e-9);
  }
}

// At equal times the published building block of V-Min holds floor((p+4)/3) micro-batches (Qi et
// al., arXiv 2405.15362): the pattern that is found here holds no more, and loses no time either.
TEST(PeriodicOrders, TwoChunksHoldNoMoreThanVMin) {
  for (const int ranks : {2, 3, 4, 5, 6, 8, 12, 16}) {
    ScheduleRequest request{.ranks = ranks, .microbatches = 4 * ranks, .chunks = 2};
    request.costs.assign(2 * ranks, {0.5, 0.5, 0.5, 0.5, 0.25});
    const auto orders = periodic_orders(request);
    ASSERT_FALSE(orders.empty());
    double least = orders.front().peak_activation;
    for (const PeriodicOrder& order : orders) {
      EXPECT_NO_THROW(validate_schedule(order.schedule));
      EXPECT_NEAR(order.period_s, 3, 1e-9);
      const auto evaluation = evaluate_schedule(order.schedule, request.costs, 0);
      EXPECT_LE(std::ranges::max(evaluation.peak_activation), order.peak_activation * (1 + 1e-9));
      // The schedule is long enough to reach the steady state, where a period takes no longer than
      // its work.
      EXPECT_LE(evaluation.longest_stage_s, 3.0 * (request.microbatches + 2 * ranks));
      least = std::min(least, order.peak_activation);
    }
    EXPECT_LE(least, (ranks + 4) / 3 + 1e-9) << ranks;
  }
}

TEST(PeriodicOrders, KeepsTheLimitWithALongerPeriod) {
  ScheduleRequest request{.ranks = 6, .microbatches = 24, .chunks = 1};
  request.costs.assign(6, {1, 1, 1, 1, 0.5});
  request.memory_limit = 5;
  const auto orders = periodic_orders(request);
  ASSERT_FALSE(orders.empty());
  EXPECT_LE(orders.front().peak_activation, 5 * (1 + 1e-9));
  EXPECT_GT(orders.front().period_s, 3);
}

}  // namespace
}  // namespace windtunnel

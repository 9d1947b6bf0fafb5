#include "policies/search/split_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "policies/evaluation/schedule_evaluator.hpp"
#include "policies/evaluation/schedule_validator.hpp"
#include "policies/search/schedule_families.hpp"
#include "tests/support/zero_bubble_profiles.hpp"

namespace windtunnel {
namespace {

// The filler computes the same times for an order as the evaluator.
TEST(SplitOrder, FilledOrderEvaluatesAlike) {
  ZeroBubbleProfile profile = zero_bubble_profiles()[0];
  profile.request.memory_limit = 12;
  WeightFiller filler(profile.request);
  int possible = 0;
  for (const NamedOrder& each : warm_up_orders(profile.request)) {
    Schedule schedule;
    const FilledResult filled = filler.fill(each.order, &schedule);
    if (!filled.possible) continue;
    ++possible;
    ASSERT_NO_THROW(validate_schedule(schedule)) << each.name;
    const auto evaluation =
        evaluate_schedule(schedule, profile.request.costs, profile.request.message_s);
    EXPECT_NEAR(filled.longest_stage_s, evaluation.longest_stage_s, 1e-12);
    EXPECT_NEAR(filled.makespan_s, evaluation.makespan_s, 1e-12);
    ScheduleRequest through_ports = profile.request;
    through_ports.message_s = 0.3;
    through_ports.port_s = 0.2;
    const FilledResult sent = WeightFiller(through_ports).fill(each.order, &schedule);
    const MessageTimes times{{0.3}, {0.3}, 0.1};
    EXPECT_NEAR(sent.makespan_s,
                evaluate_schedule(schedule, profile.request.costs, SideStreams{.messages = {times}})
                    .makespan_s,
                1e-12);
    EXPECT_LE(std::ranges::max(evaluation.peak_activation), 12 * (1 + 1e-9));
  }
  EXPECT_GT(possible, 10);
}

// Weight gradients fill the gaps; those left over come last.
TEST(SplitOrder, FillsByHand) {
  ScheduleRequest request{.ranks = 2, .microbatches = 2, .chunks = 1};
  request.costs.assign(2, {1, 1, 1, 1, 0.5});
  const SplitOrder order = split_order(generate_schedule("1f1b", request));
  Schedule schedule;
  ASSERT_TRUE(WeightFiller(request).fill(order, &schedule).possible);
  const auto text = [&](int rank) {
    std::string all;
    for (const Action& action : schedule.actions[rank]) all += to_string(action) + " ";
    return all;
  };
  EXPECT_EQ(text(0), "0F0 0F1 0I0 0W0 0I1 0W1 ");
  EXPECT_EQ(text(1), "1F0 1I0 1F1 1I1 1W0 1W1 ");
}

}  // namespace
}  // namespace windtunnel

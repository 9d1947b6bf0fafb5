#include "policies/filling/idle_periods.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

Task kernel(std::vector<CostPart> cost, std::int16_t stream = 0) {
  Task task;
  task.kind = TaskKind::compute;
  task.stream = stream;
  task.cost = std::move(cost);
  return task;
}

// Two ranks of a class run two kernels; between them one rank is idle for longer.
struct TwoRanks {
  TwoRanks() {
    plan.ranks = 2;
    RankClass& owner = plan.classes.emplace_back();
    owner.members = {0, 1};
    owner.streams = {{"compute", StreamOrder::in_order}, {"dp", StreamOrder::in_order}};
    owner.tasks = {kernel({}), kernel({})};
    timeline.ranks = {{.rank = 0, .spans = {{1, 2}, {5, 6}}},
                      {.rank = 1, .spans = {{1, 3}, {5, 6}}}};
    timeline.recorded_as = {0, 1};
    timeline.makespan_s = 10;
  }
  std::vector<IdlePeriod> periods(const PaceOf& pace) const {
    return idle_periods(plan, timeline, 0, 10, pace).front();
  }
  Plan plan;
  Timeline timeline;
};

TEST(IdlePeriods, StandBeforeBetweenAndBehindKernels) {
  const TwoRanks two;
  const auto periods = two.periods([](const RankTimeline&, int) { return 1; });
  ASSERT_EQ(periods.size(), 3U);
  EXPECT_EQ(periods[0].behind, -1);
  EXPECT_DOUBLE_EQ(periods[0].least_s, 1);
  EXPECT_EQ(periods[1].behind, 0);
  EXPECT_DOUBLE_EQ(periods[1].least_s, 2);
  EXPECT_DOUBLE_EQ(periods[1].seconds, 2.5);
  EXPECT_DOUBLE_EQ(periods[2].least_s, 4);
}

TEST(IdlePeriods, CountLessOnASlowRank) {
  const TwoRanks two;
  const auto pace = [](const RankTimeline& rank, int) { return rank.rank == 0 ? 2.0 : 1.0; };
  EXPECT_DOUBLE_EQ(two.periods(pace)[1].least_s, 1.5);
}

TEST(IdlePeriods, KnowWhatIsSentMeanwhile) {
  TwoRanks two;
  Task exchange = kernel({{Category::dp, Origin::spec, 1}}, 1);
  exchange.kind = TaskKind::collective;
  exchange.bytes = 8;
  two.plan.classes.front().tasks.push_back(exchange);
  // The exchange waits from 3 on and sends from 7 to 8.
  for (RankTimeline& rank : two.timeline.ranks) rank.spans.push_back({3, 8});
  const auto periods = two.periods([](const RankTimeline&, int) { return 1; });
  EXPECT_FALSE(periods[0].communicates);
  EXPECT_FALSE(periods[1].communicates);
  EXPECT_TRUE(periods[2].communicates);
}

}  // namespace
}  // namespace windtunnel

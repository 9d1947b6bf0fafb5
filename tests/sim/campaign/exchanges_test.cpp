#include "sim/campaign/exchanges.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "models/base/random.hpp"

namespace windtunnel {
namespace {

IslandTable table_of(int islands, IslandLevel level) {
  IslandTable table;
  table.count = islands;
  table.levels = {level};
  return table;
}

IterationTable plain() {
  IterationTable table;
  table.iteration_s = {10};
  return table;
}

// Records how long islands waited and which were left behind.
struct Heard {
  explicit Heard(int islands) : waited_s(islands, 0), missed(islands, 0) {}
  Exchanges::Told told(Exchanges& exchanges) {
    return {[this](int island, double wait_s) { waited_s[island] += wait_s; },
            [&, this](int island, double at_s, std::int64_t, std::int64_t step) {
              ++missed[island];
              exchanges.begin(island, step, at_s);
            }};
  }
  std::vector<double> waited_s;
  std::vector<int> missed;
};

TEST(IslandLevel, StepsOfExchangesAndBack) {
  const IslandLevel level{.cycle_steps = 12.5};
  EXPECT_EQ(level.step_of(1), 12);
  EXPECT_EQ(level.step_of(2), 25);
  for (std::int64_t k = 0; k < 100; ++k) {
    EXPECT_EQ(level.exchange_by(level.step_of(k)), k);
    EXPECT_EQ(level.exchange_by(level.step_of(k + 1) - 1), k);
  }
}

TEST(Exchanges, UndisturbedOnesPassByThemselves) {
  const IslandTable table = table_of(4, {.members = 4, .cycle_steps = 10});
  const Pace pace(plain(), 10, {});
  Exchanges exchanges(table, pace);
  Heard heard(4);
  exchanges.settle(1234, heard.told(exchanges));
  EXPECT_EQ(exchanges.last_exchange(2), 120);
  EXPECT_EQ(exchanges.position(2, 1234).step, 123);
  EXPECT_FALSE(exchanges.position(2, 1234).stands);
  EXPECT_EQ(heard.waited_s, std::vector<double>(4, 0));
}

// Two groups have exchanges due at the same time. Each waits for a slower member, 5 s per step, and
// no island is left behind.
TEST(Exchanges, ThoseOfOneTimeAreAllWaitedFor) {
  IslandTable table = table_of(4, {.members = 2, .cycle_steps = 10});
  table.levels.push_back({.members = 4, .cycle_steps = 100});
  const Pace pace(plain(), 10, {});
  Exchanges exchanges(table, pace);
  Heard heard(4);
  for (const int slow : {1, 3}) {
    exchanges.stop(slow);
    exchanges.begin(slow, 0, 0, 1.5);
  }
  exchanges.settle(500, heard.told(exchanges));
  EXPECT_EQ(heard.waited_s, (std::vector<double>{150, 0, 150, 0}));
  EXPECT_EQ(heard.missed, std::vector<int>(4, 0));
  for (const int island : {0, 2}) EXPECT_EQ(exchanges.last_exchange(island), 30);
}

TEST(Exchanges, StandBeforeTheNextStepUntilTheLastIsThere) {
  const IslandTable table = table_of(2, {.members = 2, .cycle_steps = 10, .delay_steps = 3});
  const Pace pace(plain(), 10, {});
  Exchanges exchanges(table, pace);
  Heard heard(2);
  exchanges.settle(55, heard.told(exchanges));
  exchanges.stop(1);
  exchanges.settle(200, heard.told(exchanges));
  EXPECT_EQ(exchanges.position(0, 200).step, 13);
  EXPECT_TRUE(exchanges.position(0, 200).stands);
  EXPECT_EQ(exchanges.position(0, 200).ended_s, 130);
  ASSERT_TRUE(exchanges.peers(1));
  EXPECT_EQ(exchanges.peers(1)->step, 0);
  EXPECT_FALSE(exchanges.peers(0));  // no other island trains
  exchanges.begin(1, 5, 200);
  exchanges.settle(260, heard.told(exchanges));
  // Island 1 reaches step 10 at 250 s; the other waits since 130 s, as it did three more steps
  // meanwhile.
  EXPECT_EQ(heard.waited_s[0], 120);
  EXPECT_EQ(exchanges.last_exchange(0), 10);
}

// Times agree with the recurrence of the rounds: a(k + 1) = max(a(k), max a(k) - slack) + R.
TEST(Exchanges, FollowTheRecurrenceOfRounds) {
  RandomStream random(3, RandomPurpose::test, 0);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const int islands = 2 + static_cast<int>(random.below(5));
    const int delay = static_cast<int>(random.below(6));
    const double exchange_s = 60 * random.uniform();
    const IslandTable table = table_of(
        islands,
        {.members = islands, .cycle_steps = 5, .delay_steps = delay, .exchange_s = exchange_s});
    const double slack_s = std::max(0.0, delay * 10 - exchange_s);
    const Pace pace(plain(), 10, {});
    Exchanges exchanges(table, pace);
    Heard heard(islands);
    std::vector<double> late_s(islands);
    for (int island = 0; island < islands; ++island) {
      late_s[island] = 49 * random.uniform();
      exchanges.stop(island);
      exchanges.begin(island, 0, late_s[island]);
    }
    exchanges.settle(2000, heard.told(exchanges));
    const double last_s = *std::ranges::max_element(late_s);
    for (int island = 0; island < islands; ++island) {
      const double arrival_s = std::max(late_s[island], last_s - slack_s);
      EXPECT_NEAR(exchanges.begun_s(island, 7), arrival_s + 70, 1e-9);
      EXPECT_NEAR(heard.waited_s[island], arrival_s - late_s[island], 1e-9);
    }
  }
}

TEST(Exchanges, AllButSomeAreWaitedFor) {
  const IslandTable table =
      table_of(4, {.members = 4, .cycle_steps = 10, .delay_steps = 2, .missing = 1});
  const Pace pace(plain(), 10, {});
  Exchanges exchanges(table, pace);
  Heard heard(4);
  for (const int island : {1, 2, 3}) {
    exchanges.stop(island);
    exchanges.begin(island, 0, 30.0 * (island - 1));  // 0, 0, 30 and 60 s late
  }
  exchanges.settle(300, heard.told(exchanges));
  // The third island comes at 130 s; the others wait until 150 s and not for the fourth, which
  // comes at 160 s.
  EXPECT_EQ(heard.missed, (std::vector<int>{0, 0, 0, 1}));
  EXPECT_EQ(heard.waited_s[0], 30);
  EXPECT_EQ(exchanges.begun_s(3, 12), 150);
}

// If each island exchanges on its own with the islands that train, none waits, and a late one
// continues alone.
TEST(Exchanges, OfEachByItselfHoldUpNobody) {
  const IslandTable table =
      table_of(3, {.members = 3, .cycle_steps = 10, .missing = 2, .together = false});
  const Pace pace(plain(), 10, {});
  Exchanges exchanges(table, pace);
  Heard heard(3);
  exchanges.stop(1);
  exchanges.begin(1, 0, 500);
  exchanges.stop(2);
  exchanges.settle(1005, heard.told(exchanges));
  EXPECT_EQ(heard.waited_s, (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(heard.missed, (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(exchanges.position(0, 1005).step, 100);
  EXPECT_EQ(exchanges.position(1, 1005).step, 50);
  EXPECT_EQ(exchanges.peers(2)->step, 100);  // the step of the island that is ahead
}

// Island 1 is lost, so the region of island 0 stops before step 20, while the others go on: island
// 1 gets from island 0 the state that island 0 has.
TEST(Exchanges, OfEachByItselfAroundARegionThatStands) {
  IslandTable table = table_of(4, {.members = 2, .cycle_steps = 10});
  table.levels.push_back({.members = 4, .cycle_steps = 30, .missing = 3, .together = false});
  const Pace pace(plain(), 10, {});
  Exchanges exchanges(table, pace);
  Heard heard(4);
  exchanges.settle(155, heard.told(exchanges));
  exchanges.stop(1);
  exchanges.settle(1005, heard.told(exchanges));
  EXPECT_EQ(exchanges.position(0, 1005).step, 20);
  EXPECT_TRUE(exchanges.position(0, 1005).stands);
  EXPECT_EQ(exchanges.position(2, 1005).step, 100);
  EXPECT_EQ(exchanges.peers(1)->step, 10);
  exchanges.stop(0);
  EXPECT_EQ(exchanges.peers(1)->step, 90);  // a step of the other region
}

TEST(Exchanges, NobodyIsLeftToRemember) {
  const IslandTable table = table_of(2, {.members = 2, .cycle_steps = 10});
  const Pace pace(plain(), 10, {});
  Exchanges exchanges(table, pace);
  Heard heard(2);
  exchanges.settle(455, heard.told(exchanges));
  exchanges.stop(0);
  exchanges.set_state(0, 25);
  EXPECT_EQ(exchanges.last_exchange(0), 40);  // the other island still trains
  exchanges.stop(1);
  exchanges.set_state(0, 25);
  EXPECT_EQ(exchanges.last_exchange(0), 20);
}

}  // namespace
}  // namespace windtunnel

#include "models/reliability/stragglers/wait_rule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "models/base/error.hpp"
#include "models/base/random.hpp"

namespace windtunnel {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

double end_of(const WaitRule& rule, std::vector<double> arrivals) {
  return end_of_wait(rule, arrivals);
}

TEST(WaitRule, GoesAheadWithTheKth) {
  EXPECT_EQ(end_of({}, {3, 1, 4, 2}), 4);
  EXPECT_EQ(end_of({.missing = 1}, {3, 1, 4, 2}), 3);
  EXPECT_EQ(end_of({.missing = 3}, {3, 1, 4, 2}), 1);
  EXPECT_EQ(end_of({.missing = 2}, {5, 5, 5}), 5);
}

TEST(WaitRule, GivesTheOthersTimeButNoneWhenAllAreThere) {
  EXPECT_EQ(end_of({.missing = 2, .grace = 0.5}, {1, 2, 3, 9}), 2.5);
  EXPECT_EQ(end_of({.missing = 2, .grace = 5}, {1, 2, 3, 4}), 4);
  EXPECT_EQ(end_of({.missing = 0, .grace = 5}, {1, 2}), 2);
  EXPECT_EQ(end_of({.missing = 2, .earliest = 3.5}, {1, 2, 3, 9}), 3.5);
  EXPECT_EQ(end_of({.missing = 2, .earliest = 20}, {1, 2, 3, 9}), 9);
  EXPECT_EQ(end_of({.missing = 4, .earliest = 0.5}, {1, 2, 3, 9}), 0.5);
}

TEST(WaitRule, WhoNeverComesIsNeverWaitedForUnlessNeeded) {
  EXPECT_EQ(end_of({.missing = 1, .grace = 2}, {1, 3, kNever}), 5);
  EXPECT_EQ(end_of({.missing = 1}, {1, kNever, kNever}), kNever);
}

TEST(WaitRule, NobodyToWaitForIsAFault) {
  EXPECT_THROW(end_of({}, {}), InternalError);
  EXPECT_THROW(end_of({.missing = -1}, {1}), InternalError);
}

// Compares with the formula in the header, evaluated on sorted arrivals.
TEST(WaitRule, IsTheFormulaOfItsHeader) {
  RandomStream random(17, RandomPurpose::test, 0);
  for (int round = 0; round < 2000; ++round) {
    std::vector<double> arrivals(1 + random.below(12));
    for (double& arrival : arrivals) arrival = double(random.below(8));
    const WaitRule rule{.missing = static_cast<int>(random.below(arrivals.size())),
                        .earliest = double(random.below(8)),
                        .grace = double(random.below(4))};
    std::vector<double> sorted = arrivals;
    std::ranges::sort(sorted);
    const double kth = sorted[sorted.size() - 1 - rule.missing];
    EXPECT_EQ(end_of(rule, arrivals),
              std::min(sorted.back(), std::max(rule.earliest, kth + rule.grace)));
  }
}

}  // namespace
}  // namespace windtunnel

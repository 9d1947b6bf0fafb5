#include "sim/study/as_good_range.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

// As good from 3 to 50 s; counts what is asked.
struct Asked {
  int times = 0;
  AsGoodSearch of(std::vector<double> tried, double least_s = 0.1, double most_s = 1e6) {
    return {.best_s = 10,
            .least_s = least_s,
            .most_s = most_s,
            .tried = std::move(tried),
            .is_as_good = [this](double every_s) {
              ++times;
              return every_s >= 3 && every_s <= 50;
            }};
  }
};

TEST(AsGoodRange, EndsWithinAFewPercentWhateverWasTried) {
  for (const std::vector<double>& tried :
       {std::vector<double>{10.0}, {5, 10, 20}, {0.2, 2, 4, 10, 49, 400}}) {
    Asked asked;
    const auto [shortest_s, longest_s] = as_good_range(asked.of(tried));
    EXPECT_GE(shortest_s, 3);
    EXPECT_LE(shortest_s, 3 * 1.05);
    EXPECT_LE(longest_s, 50);
    EXPECT_GE(longest_s, 50 / 1.05);
    EXPECT_LE(asked.times, 20);
  }
}

TEST(AsGoodRange, EndsAtWhatIsPossible) {
  Asked asked;
  EXPECT_EQ(as_good_range(asked.of({5, 10, 20}, 5, 40)), std::pair(5.0, 40.0));
  EXPECT_EQ(as_good_range(asked.of({10}, 10, 10)), std::pair(10.0, 10.0));
  // What was tried beyond is not asked again.
  EXPECT_EQ(as_good_range(asked.of({1, 10, 100}, 9.9, 10.1)), std::pair(10.0, 10.0));
}

}  // namespace
}  // namespace windtunnel

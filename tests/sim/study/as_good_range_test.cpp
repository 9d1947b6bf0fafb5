#include "sim/study/as_good_range.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace windtunnel {
namespace {

// The goodput of these campaigns is a function of the interval; calls are counted.
struct Campaigns {
  std::function<double(double every_s)> goodput;
  std::map<double, PairedCampaign> asked = {};

  AsGoodRange range(std::vector<double> tried, double least_s = 0.1, double most_s = 1e6) {
    return as_good_range({.least_s = least_s,
                          .most_s = most_s,
                          .tried = std::move(tried),
                          .campaign_at = [this](double every_s) -> const PairedCampaign& {
                            const double mean = goodput(every_s);
                            return asked
                                .try_emplace(every_s, PairedCampaign{{.mean = mean}, {mean, mean}})
                                .first->second;
                          }});
  }
};

// Goodput is greatest at 10 s, and almost as good from 3 to 50 s.
double plateau(double every_s) {
  if (every_s < 3 || every_s > 50) return 0.8;
  return 0.9 - 1e-5 * std::abs(std::log(every_s / 10));
}

TEST(AsGoodRange, EndsWithinAFewPercentWhateverWasTried) {
  for (const std::vector<double>& tried :
       {std::vector<double>{10.0}, {5, 10, 20}, {0.2, 2, 4, 10, 49, 400}}) {
    Campaigns campaigns{plateau};
    const AsGoodRange range = campaigns.range(tried);
    EXPECT_EQ(range.best_s, 10);
    EXPECT_GE(range.shortest_s, 3);
    EXPECT_LE(range.shortest_s, 3 * 1.05);
    EXPECT_LE(range.longest_s, 50);
    EXPECT_GE(range.longest_s, 50 / 1.05);
    EXPECT_LE(campaigns.asked.size(), 20U);
  }
}

TEST(AsGoodRange, EndsAtWhatIsPossible) {
  Campaigns campaigns{plateau};
  const auto expect = [&](std::vector<double> tried, double least_s, double most_s,
                          const std::vector<double>& best_and_ends) {
    const AsGoodRange range = campaigns.range(std::move(tried), least_s, most_s);
    EXPECT_EQ((std::vector{range.best_s, range.shortest_s, range.longest_s}), best_and_ends);
  };
  expect({5, 10, 20}, 5, 40, {10, 5, 40});
  expect({10}, 10, 10, {10, 10, 10});
  expect({1, 10, 100}, 9.9, 10.1, {10, 10, 10});
  // No tried interval is possible: the given one is too short, or longer than the campaign.
  expect({10}, 20, 40, {20, 20, 40});
  expect({10}, 4, 5, {5, 4, 5});
}

TEST(AsGoodRange, IsAroundABetterOneThatLayOnTheWay) {
  // At 20 s x / 2^1.25, 0.05 points are lost.
  Campaigns campaigns{
      [](double every_s) { return 0.9 - 4e-4 * std::abs(std::log2(every_s / 20)); }};
  const AsGoodRange range = campaigns.range({10});
  EXPECT_EQ(range.best_s, 20);
  EXPECT_NEAR(std::log2(range.shortest_s / 20), -1.25, std::log2(1.05));
  EXPECT_NEAR(std::log2(range.longest_s / 20), 1.25, std::log2(1.05));
}

}  // namespace
}  // namespace windtunnel

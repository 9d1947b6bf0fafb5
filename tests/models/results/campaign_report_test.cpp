#include "models/results/campaign_report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

TEST(CampaignReport, EstimateOfFiveSamples) {
  const Estimate result = estimate({5, 1, 4, 2, 3});
  EXPECT_DOUBLE_EQ(result.mean, 3);
  // 2.776445 is t(0.975, 4 degrees of freedom), and s is sqrt(2.5).
  const double half_width = 2.776445 * std::sqrt(2.5 / 5);
  EXPECT_NEAR(result.low, 3 - half_width, 1e-6);
  EXPECT_NEAR(result.high, 3 + half_width, 1e-6);
  EXPECT_DOUBLE_EQ(result.p05, 1.2);
  EXPECT_DOUBLE_EQ(result.p95, 4.8);
}

TEST(CampaignReport, OneSampleAndEqualSamplesHaveNoWidth) {
  const Estimate expected{0.1, 0.1, 0.1, 0.1, 0.1};
  EXPECT_EQ(estimate({0.1}), expected);
  EXPECT_EQ(estimate({0.1, 0.1, 0.1}), expected);
}

TEST(CampaignReport, AnInfiniteSampleMakesItInfinite) {
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(estimate({1, infinite}).mean, infinite);
  EXPECT_EQ(estimate({1, infinite}).low, infinite);
}

TEST(CampaignReport, NoSampleIsAnError) {
  EXPECT_THROW(estimate({}), Error);
}

TEST(Estimate, IntervalsStayWhereTheQuantityCanBe) {
  // The mean is 1/3, the half width 4.30 * 0.577 / sqrt(3) = 1.43.
  const Estimate share = estimate({0, 0, 1}, 1);
  EXPECT_EQ(share.low, 0);
  EXPECT_EQ(share.high, 1);
  EXPECT_NEAR(estimate({0, 0, 1}).high, 1.0 / 3 + 4.302653 / 3, 1e-6);
}

}  // namespace
}  // namespace windtunnel

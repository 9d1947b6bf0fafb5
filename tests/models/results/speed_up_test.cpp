#include "models/results/speed_up.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace windtunnel {
namespace {

const std::vector<MeasuredPairs> kPairs = {
    {.differs = "layout", .keys = {"layout", "batch.micro"}, .error = 0.05, .share = 0.2},
    {.differs = "size", .keys = {"cluster.nodes", "layout"}, .error = 0.02, .share = 0},
    {.differs = "all", .keys = {""}, .error = 0.1, .share = 0.1}};

TEST(SpeedUp, TakesTheNarrowestKindThatHasAllKeys) {
  EXPECT_EQ(pairs_of(kPairs, {"layout.tp", "batch.micro"}).differs, "layout");
  EXPECT_EQ(pairs_of(kPairs, {"layout.tp", "cluster.nodes"}).differs, "size");
  EXPECT_EQ(pairs_of(kPairs, {"layout"}).differs, "layout");
  EXPECT_EQ(pairs_of(kPairs, {"layouts.tp"}).differs, "all");  // another key that begins so
  EXPECT_EQ(pairs_of(kPairs, {"batch.micro", "cluster.nodes"}).differs, "all");
}

// The distribution of Student's t with 4 degrees of freedom has a closed form.
double distribution(double t) {
  const double x = t / std::sqrt(4 + t * t);
  return 0.5 + 0.75 * x - 0.25 * x * x * x;
}

TEST(SpeedUp, IntervalAndChanceAreOfStudentsT) {
  const SpeedUp faster = speed_up_of(1.2, kPairs[0]);
  const double scale = std::hypot(0.05, 0.2 * std::log(1.2));
  EXPECT_EQ(faster.ratio, 1.2);
  EXPECT_NEAR(faster.faster, distribution(std::log(1.2) / scale), 1e-12);
  EXPECT_NEAR(distribution(std::log(faster.high / 1.2) / scale), 0.95, 1e-12);
  EXPECT_NEAR(faster.low * faster.high, 1.2 * 1.2, 1e-12);
  EXPECT_EQ(speed_up_of(1, kPairs[0]).faster, 0.5);
  EXPECT_NEAR(speed_up_of(1 / 1.2, kPairs[0]).faster, 1 - faster.faster, 1e-12);
}

}  // namespace
}  // namespace windtunnel

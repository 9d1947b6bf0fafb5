#include "models/cost/op/host_launch.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace windtunnel {
namespace {

// Launches take 1 s: the short kernels wait 0.75 s each, the long one makes up for them.
const std::vector<Launched> kMixed = {{1, 0.25}, {1, 3}, {1, 0.25}};

TEST(HostLaunch, WithoutAQueueEveryShortKernelWaits) {
  EXPECT_DOUBLE_EQ(host_wait_s(kMixed, 1, 0), 1.5);
}

TEST(HostLaunch, AFullQueueWaitsOnlyWhereTheHostIsSlowerInAll) {
  EXPECT_DOUBLE_EQ(host_wait_s(kMixed, 1, 1), 0);
  EXPECT_DOUBLE_EQ(host_wait_s(kMixed, 2, 1), 6 - 3.5);
}

TEST(HostLaunch, BetweenTheTwo) {
  EXPECT_DOUBLE_EQ(host_wait_s(kMixed, 1, 0.5), 0.75);
}

TEST(HostLaunch, OneKernelMayBeManyLaunchesOrNone) {
  const std::vector<Launched> one = {{4, 0.5}, {0, 0.5}};
  EXPECT_DOUBLE_EQ(host_wait_s(one, 1, 0), 3.5);
  EXPECT_DOUBLE_EQ(host_wait_s(one, 1, 1), 3);
  EXPECT_EQ(host_wait_s({}, 1, 0.5), 0);
}

}  // namespace
}  // namespace windtunnel

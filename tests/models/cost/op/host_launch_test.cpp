#include "models/cost/op/host_launch.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace windtunnel {
namespace {

// Launches take `launch_s`; at 1 s the short kernels wait 0.75 s each, the long one makes up for
// them.
std::vector<Launched> mixed(double launch_s) {
  return {{launch_s, 0.25}, {launch_s, 3}, {launch_s, 0.25}};
}

TEST(HostLaunch, WithoutAQueueEveryShortKernelWaits) {
  EXPECT_DOUBLE_EQ(host_wait_s(mixed(1), 0), 1.5);
}

TEST(HostLaunch, AFullQueueWaitsOnlyWhereTheHostIsSlowerInAll) {
  EXPECT_DOUBLE_EQ(host_wait_s(mixed(1), 1), 0);
  EXPECT_DOUBLE_EQ(host_wait_s(mixed(2), 1), 6 - 3.5);
}

TEST(HostLaunch, BetweenTheTwo) {
  EXPECT_DOUBLE_EQ(host_wait_s(mixed(1), 0.5), 0.75);
}

TEST(HostLaunch, WhatIsLaunchedAlreadyCostsTheHostNothing) {
  const std::vector<Launched> one = {{4, 0.5}, {0, 0.5}};
  EXPECT_DOUBLE_EQ(host_wait_s(one, 0), 3.5);
  EXPECT_DOUBLE_EQ(host_wait_s(one, 1), 3);
  EXPECT_EQ(host_wait_s({}, 0.5), 0);
}

TEST(HostLaunch, FurtherKernelsOfAnOperationCostLessThanItsModule) {
  Calibration calibration;
  calibration.host_launch_s = {100e-6, 50e-6, 200e-6, Origin::assumed, ""};
  calibration.host_kernel_s = {40e-6, 20e-6, 80e-6, Origin::assumed, ""};
  Software software;
  EXPECT_DOUBLE_EQ(host_launch_s(calibration, software, 0.5), 50e-6);
  EXPECT_DOUBLE_EQ(host_launch_s(calibration, software, 1), 100e-6);
  EXPECT_DOUBLE_EQ(host_launch_s(calibration, software, 4), 220e-6);
  software.host_share = 0.7;  // of the module alone
  EXPECT_DOUBLE_EQ(host_launch_s(calibration, software, 4), 190e-6);
}

}  // namespace
}  // namespace windtunnel

#include "models/cost/op/host_launch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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

// A collective of 2 s beside a kernel: the faster the kernel, the more of it is exposed. Both
// together never take longer for it, and the launch counts however little is exposed.
TEST(HostLaunch, AFasterKernelBesideACollectiveAddsNoWait) {
  for (const double run_ahead : {0.0, 0.5, 1.0}) {
    double before_s = 1e9;
    for (const double kernel_s : {4.0, 2.5, 2.0, 1.9, 1.5, 1.1}) {
      const double covered_s = std::min(2.0, kernel_s);
      const std::vector<Launched> pass = {{1, kernel_s}, {3, 2 - covered_s, covered_s}};
      const double all_s = kernel_s + (2 - covered_s) + host_wait_s(pass, run_ahead);
      EXPECT_LE(all_s, before_s + 1e-12) << run_ahead << ", " << kernel_s;
      before_s = all_s;
    }
    EXPECT_DOUBLE_EQ(before_s, run_ahead * 4 + (1 - run_ahead) * 3) << run_ahead;
  }
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

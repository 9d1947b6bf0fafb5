#include "models/cost/op/host_launch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace windtunnel {
namespace {

// Each launch takes `launch_s`. At 1 s each short kernel finishes 0.75 s before the next launch;
// the long kernel makes up for that.
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

// A kernel has a launch of 1 s, and a concurrent collective has one of 3 s.
double pass_s(double kernel_s, double collective_s, double run_ahead) {
  const std::vector<Launched> kernels = {{1, kernel_s}};
  const double exposed_s = std::max(0.0, collective_s - kernel_s);
  const double beside_s = std::min(kernel_s, host_spare_s(kernels));
  const std::vector<Launched> pass = {kernels[0], {3, exposed_s, beside_s}};
  return kernel_s + exposed_s + host_wait_s(pass, run_ahead);
}

// A faster kernel exposes more of the collective. Together they never take longer because of it,
// and never less than the host needs for both launches.
TEST(HostLaunch, AFasterKernelBesideACollectiveAddsNoWait) {
  for (const double run_ahead : {0.0, 0.5, 1.0}) {
    double before_s = 1e9;
    for (const double kernel_s : {6.0, 4.0, 2.5, 2.0, 1.9, 1.5, 1.1, 0.5}) {
      const double all_s = pass_s(kernel_s, 2, run_ahead);
      EXPECT_LE(all_s, before_s + 1e-12) << run_ahead << ", " << kernel_s;
      before_s = all_s;
    }
    EXPECT_DOUBLE_EQ(before_s, 4) << run_ahead;
  }
}

// The same holds for a faster link: the kernel then covers less of the collective's time, but the
// same launch time of the host.
TEST(HostLaunch, AFasterCollectiveBesideAKernelAddsNoWait) {
  for (const double run_ahead : {0.0, 0.5, 1.0}) {
    for (const double kernel_s : {0.5, 1.5, 3.0, 6.0}) {
      double before_s = 1e9;
      for (const double collective_s : {8.0, 4.0, 3.0, 2.0, 1.0, 0.25}) {
        const double all_s = pass_s(kernel_s, collective_s, run_ahead);
        EXPECT_LE(all_s, before_s + 1e-12) << run_ahead << ", " << kernel_s << ", " << collective_s;
        before_s = all_s;
      }
      EXPECT_DOUBLE_EQ(before_s, std::max(kernel_s, 4.0)) << run_ahead << ", " << kernel_s;
    }
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
  EXPECT_DOUBLE_EQ(further_launch_s(calibration, software, 2), 80e-6);
  software.host_share = 0.7;  // scales the first launch only
  EXPECT_DOUBLE_EQ(host_launch_s(calibration, software, 4), 190e-6);
  software.host_share = 0.2;  // no further kernel costs more than the first
  EXPECT_DOUBLE_EQ(host_launch_s(calibration, software, 4), 80e-6);
  EXPECT_DOUBLE_EQ(further_launch_s(calibration, software, 2), 40e-6);
}

}  // namespace
}  // namespace windtunnel

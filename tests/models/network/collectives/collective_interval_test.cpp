// How far measured collectives may be from the law: noise by size and place, slow nodes, and the
// time that one process needs to launch.
#include "models/network/collectives/collective_interval.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "models/base/quantile.hpp"

namespace windtunnel {
namespace {

InterconnectLaw law_of(double large, double small) {
  InterconnectLaw law;
  law.noise_log = {large, large, large, Origin::published, "large"};
  law.small_noise_log = {small, small, small, Origin::published, "small"};
  return law;
}

TEST(CollectiveInterval, NoiseIsOfTheSize) {
  const InterconnectLaw law = law_of(0.2, 0.4);
  const NodeSpec node;
  EXPECT_EQ(collective_noise(law, node, 2, kLargeCollective_bytes, false).source, "large");
  EXPECT_EQ(collective_noise(law, node, 2, kLargeCollective_bytes - 1, false).source, "small");
}

// Noise of the network does not affect collectives inside a node, unless the law was fitted there.
TEST(CollectiveInterval, InsideANodeLessIsUnknown) {
  const InterconnectLaw law = law_of(0.9, 0.9);
  NodeSpec node;
  EXPECT_LT(collective_noise(law, node, 1, 1e9, false).value, 0.2);
  EXPECT_EQ(collective_noise(law, node, 1, 1e9, true).value, 0.9);
  EXPECT_EQ(collective_noise(law_of(0.05, 0.05), node, 1, 1e9, false).value, 0.05);
  node.gpu_path = GpuPath::pcie;
  EXPECT_EQ(collective_noise(law, node, 1, 1e9, false).value, 0.9);
}

TEST(CollectiveInterval, SlowNodesWidenItsUpperEnd) {
  InterconnectLaw law = law_of(0.2, 0.2);
  const TimeFactors quiet = time_factors(law, 8, 0.2);
  EXPECT_NEAR(std::log(quiet.high), kNormal95 * 0.2, 1e-12);
  EXPECT_NEAR(quiet.low * quiet.high, 1, 1e-12);
  law.slow_share.value = 0.1;
  law.slow_log.value = 0.5;
  const TimeFactors shared = time_factors(law, 8, 0.2);
  EXPECT_GT(shared.high, quiet.high);
  EXPECT_LT(std::log(shared.high), std::log(quiet.high) + slowdown_log(law, 8, 0.95));
}

TEST(CollectiveInterval, NoFasterThanItsLaunches) {
  EXPECT_EQ(reported_s(1, 5e-6), 5e-6);
  EXPECT_NEAR(reported_s(8, 5e-6), 8 * 4.3e-6, 1e-7);
  EXPECT_NEAR(reported_s(8, 1e-3), 1e-3, 1e-7);
}

TEST(CollectiveInterval, ConstantsMoveToTheirEnds) {
  Calibration calibration;
  calibration.nic_latency_s = {5e-6, 3e-6, 9e-6, Origin::assumed, ""};
  calibration.nic_efficiency = {0.9, 0.8, 0.95, Origin::assumed, ""};
  const Calibration faster = with_network_at_end(calibration, true);
  const Calibration slower = with_network_at_end(calibration, false);
  EXPECT_EQ(faster.nic_latency_s.value, 3e-6);
  EXPECT_EQ(slower.nic_latency_s.value, 9e-6);
  EXPECT_EQ(faster.nic_efficiency.value, 0.95);
  EXPECT_EQ(slower.nic_efficiency.value, 0.8);
}

}  // namespace
}  // namespace windtunnel

// A curve states what a collective takes over sizes: the law's time, an interval with its basis,
// and the algorithm that runs.
#include "sim/study/expect/expect.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "models/base/error.hpp"
#include "models/base/quantile.hpp"
#include "models/network/collectives/collective_interval.hpp"
#include "scenarios/language/library/interconnect_laws.hpp"
#include "scenarios/language/library/library.hpp"

namespace windtunnel {
namespace {

ExpectRequest request_of(const std::string& node, int nodes, const std::string& calibration) {
  ExpectRequest request;
  request.cluster.node = find_node(node);
  request.cluster.nodes = nodes;
  request.cluster.fabric = find_fabric("full-bisection").fabric;
  request.calibration = find_calibration(calibration);
  request.gpus.resize(static_cast<std::size_t>(nodes * request.cluster.node.gpus));
  std::iota(request.gpus.begin(), request.gpus.end(), 0);
  for (double bytes = 1024; bytes <= 8e9; bytes *= 2) request.sizes.push_back(bytes);
  return request;
}

TEST(Expect, IsTheLawWithItsNoise) {
  const ExpectRequest request = request_of("dgx-h100", 2, "h100-published");
  const ExpectedCurve curve = expect_collective(request);
  const Calibration law = with_one_network_law(request.calibration, request.cluster.node,
                                               request.cluster.fabric.transport);
  const GroupShape shape = group_shape(request.gpus, request.cluster);
  ASSERT_EQ(curve.sizes.size(), request.sizes.size());
  EXPECT_EQ(curve.ranks, 16);
  EXPECT_EQ(curve.nodes, 2);
  for (const ExpectedSize& size : curve.sizes) {
    const CollectiveCost cost =
        collective_cost(request.kind, {}, shape, size.bytes, request.cluster, law);
    EXPECT_EQ(size.seconds, cost.seconds);
    EXPECT_EQ(size.algorithm, cost.algorithm);
    const Parameter& noise =
        size.bytes < kLargeCollective_bytes ? law.network.small_noise_log : law.network.noise_log;
    const TimeFactors factors = time_factors(law.network, 2, noise.value);
    EXPECT_DOUBLE_EQ(size.low_s, cost.seconds * factors.low);
    EXPECT_DOUBLE_EQ(size.high_s, cost.seconds * factors.high);
  }
  EXPECT_EQ(curve.noise.value, law.network.noise_log.value);
  EXPECT_NE(curve.noise.source, "");
}

// nccl-tests' factor for an all-reduce is 2 (n - 1) / n.
TEST(Expect, BusBandwidthIsThatOfNcclTests) {
  ExpectedCurve curve;
  curve.kind = CollectiveKind::all_reduce;
  curve.ranks = 16;
  EXPECT_DOUBLE_EQ(bus_bandwidth(curve, 1e9, 1e-2), 1e11 * 2 * 15 / 16);
}

TEST(Expect, WhatIsForcedRuns) {
  ExpectRequest request = request_of("dgx-h100", 2, "h100-published");
  request.choice = {CollectiveAlgorithm::ring, Protocol::ll};
  for (const ExpectedSize& size : expect_collective(request).sizes) {
    EXPECT_EQ(size.algorithm, CollectiveAlgorithm::ring);
    EXPECT_EQ(size.protocol, Protocol::ll);
  }
}

TEST(Expect, WithoutNvlsNothingReducesInTheSwitch) {
  ExpectRequest request = request_of("dgx-h100", 1, "h100-published");
  const ExpectedCurve with = expect_collective(request);
  EXPECT_EQ(with.sizes.back().algorithm, CollectiveAlgorithm::nvls);
  request.nvls = false;
  const ExpectedCurve without = expect_collective(request);
  for (const ExpectedSize& size : without.sizes) {
    EXPECT_TRUE(size.algorithm == CollectiveAlgorithm::ring ||
                size.algorithm == CollectiveAlgorithm::tree);
  }
  EXPECT_GT(without.sizes.back().seconds, with.sizes.back().seconds);
}

// Without NCCL no law was validated, so the interval comes from the constants.
TEST(Expect, WithoutALawItRestsOnConstants) {
  const ExpectedCurve curve = expect_collective(request_of("tpu-v4", 4, "tpu-spec"));
  EXPECT_NE(curve.why_no_law, "");
  for (const ExpectedSize& size : curve.sizes) {
    EXPECT_LT(size.low_s, size.seconds);
    EXPECT_GT(size.high_s, size.seconds);
  }
}

TEST(Expect, OneGpuHasNoCollective) {
  ExpectRequest request = request_of("dgx-h100", 1, "h100-published");
  request.gpus = {0};
  EXPECT_THROW(expect_collective(request), Error);
}

}  // namespace
}  // namespace windtunnel

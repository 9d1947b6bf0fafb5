#include "models/network/nccl/nccl_latencies.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/models/network/nccl/tuner_fixtures.hpp"

namespace windtunnel {
namespace {

using enum CollectiveAlgorithm;

// By NCCL's constants, one node takes the base latency and 2 (n - 1) steps of 0.6 us. Two nodes
// take 14 - 2 steps of 1 us, which is the time that the host needs to post, and 2 steps of 2.7 us.
TEST(NcclLatencies, OfRings) {
  EXPECT_NEAR(nccl_nominal_s(all_reduce_on(gh200_quad(), 1), ring, Protocol::ll, 0),
              (6.6 + 6 * .6) * 1e-6, 1e-12);
  EXPECT_NEAR(nccl_nominal_s(all_reduce_on(gh200_quad(), 2), ring, Protocol::ll, 0),
              (6.6 + 12 * 1 + 2 * 2.7) * 1e-6, 1e-12);
  TunerSettings amd;
  amd.cpu = HostCpu::amd;
  EXPECT_NEAR(nccl_nominal_s(all_reduce_on(dgx_a100(), 2, amd), ring, Protocol::ll, 0),
              (6.6 + 28 * 2 + 2 * 2.7) * 1e-6, 1e-12);
  // In Simple, posting takes 3 us, less than a step's 3.4 us, so that the step counts. From 64
  // bytes per channel on, the whole latency counts 1.4 times.
  const double simple_us = 8.4 + 12 * 3.4 + 2 * 14;
  const TunerTable two = all_reduce_on(gh200_quad(), 2);
  EXPECT_NEAR(nccl_nominal_s(two, ring, Protocol::simple, 0), simple_us * 1e-6, 1e-12);
  const double bytes = 64. * 8 * 8;  // 64 per channel and member
  EXPECT_NEAR(nccl_nominal_s(two, ring, Protocol::simple, bytes),
              1.4 * simple_us * 1e-6 + bytes / (96e9 * 8 / 14), 1e-12);
}

TEST(NcclLatencies, OfTreesAndSwitches) {
  // The latency is the base and 2 ((8 - 1) * 0.6 + log2(16) * 5) us.
  EXPECT_NEAR(nccl_nominal_s(all_reduce_on(dgx_h100(), 16), tree, Protocol::ll, 0),
              (6.8 + 2 * (7 * .6 + 4 * 5)) * 1e-6, 1e-12);
  // The logarithm is rounded down.
  EXPECT_DOUBLE_EQ(nccl_nominal_s(all_reduce_on(dgx_h100(), 31), tree, Protocol::ll, 0),
                   nccl_nominal_s(all_reduce_on(dgx_h100(), 16), tree, Protocol::ll, 0));
  EXPECT_NEAR(nccl_nominal_s(all_reduce_on(dgx_h100(), 1), nvls, Protocol::simple, 0), 25e-6,
              1e-12);
  EXPECT_NEAR(nccl_nominal_s(all_reduce_on(dgx_h100(), 4), nvls_tree, Protocol::simple, 0),
              (25 + 2 * 2 * 20.9) * 1e-6, 1e-12);
  const TunerTable rail = table_of(CollectiveKind::all_gather, dgx_h100(), 64, 1);
  EXPECT_NEAR(nccl_nominal_s(rail, pat, Protocol::simple, 0), (8 + 6 * 14 / 3.5 + 2.8 * 64) * 1e-6,
              1e-12);
  // The latency that a plugin states counts twice in Simple.
  TunerSettings slow;
  slow.net_latency_s = 35e-6;
  EXPECT_NEAR(nccl_nominal_s(all_reduce_on(dgx_h100(), 2, slow), tree, Protocol::simple, 0),
              (8.4 + 2 * (7 * 4 + 14 + 70)) * 1e-6, 1e-12);
}

// A pipelined broadcast in one node counts one step. Over rails NCCL counts one step per member, in
// Simple with a tree's latency.
TEST(NcclLatencies, OfBroadcasts) {
  for (const CollectiveKind kind : {CollectiveKind::broadcast, CollectiveKind::reduce}) {
    const TunerTable one = table_of(kind, dgx_h100(), 1, 8);
    const TunerTable eight = table_of(kind, dgx_h100(), 8, 8);
    EXPECT_NEAR(nccl_nominal_s(one, ring, Protocol::simple, 0), (8.4 + 3.4) * 1e-6, 1e-12);
    EXPECT_NEAR(nccl_nominal_s(eight, ring, Protocol::ll, 0), (6.6 + 64 * 2.7) * 1e-6, 1e-12);
    EXPECT_NEAR(nccl_nominal_s(eight, ring, Protocol::simple, 0), (8.4 + 64 * 14) * 1e-6, 1e-12);
    EXPECT_NEAR(bus_bandwidth(eight, ring, Protocol::simple, 1), 384, 1e-3);
    EXPECT_TRUE(std::isinf(nccl_nominal_s(eight, tree, Protocol::simple, 0)));
  }
}

}  // namespace
}  // namespace windtunnel

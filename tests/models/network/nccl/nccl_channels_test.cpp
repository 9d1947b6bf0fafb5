#include "models/network/nccl/nccl_channels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/models/network/nccl/tuner_fixtures.hpp"

namespace windtunnel {
namespace {

void expect_channels(const Channels& channels, int count, double inside, double between) {
  EXPECT_EQ(channels.count, count);
  EXPECT_DOUBLE_EQ(channels.inside, inside);
  EXPECT_DOUBLE_EQ(channels.between, between);
}

NodeLinks links_of(const NodeSpec& node) {
  return node_links(node, silicon_of(node.gpu.generation), node.gpus);
}

// NCCL's logs say "nChannels 12, bw 30/30" (rings in an H100 node) and "nChannels 8, bw 48/48"
// (rings between such nodes). They show 24 channels of collectives, twice what the search finds, in
// a node of A100s, and 12 in a DGX-1.
TEST(NcclChannels, AreThoseOfLogs) {
  expect_channels(ring_channels(links_of(dgx_h100()), kHopper, false), 12, 30, 30);
  expect_channels(ring_channels(links_of(dgx_h100()), kHopper, true), 8, 48, 48);
  expect_channels(ring_channels(links_of(dgx_a100()), kAmpere, false), 12, 20, 20);
  expect_channels(ring_channels(links_of(dgx_v100()), kVolta, false), 6, 20, 20);
  // An NVLS head reads from eight GPUs and twice from itself: 9 * 40 GB/s of 370.8 GB/s.
  expect_channels(nvls_channels(links_of(dgx_h100()), kHopper, false), 8, 40, 40);
  expect_channels(nvls_channels(links_of(dgx_h100()), kHopper, true), 8, 40, 48);
}

// There are as many trees as rings. Trees are faster inside a node if two nodes share a NIC's
// bytes.
TEST(NcclChannels, TreesFollowTheRing) {
  const NodeLinks links = links_of(gh200_quad());
  const Channels ring = ring_channels(links, kHopper, true);
  expect_channels(ring, 4, 24, 24);
  expect_channels(tree_channels(links, kHopper, true, ring), 4, 48, 24);
}

// Whatever the search finds, no port carries more than its bandwidth.
TEST(NcclChannels, FitTheirLinks) {
  std::mt19937 generator(7);
  std::uniform_real_distribution<double> exponent(0, 3);
  for (int i = 0; i < 2000; ++i) {
    NodeLinks links;
    links.members = 1 + static_cast<int>(generator() % 8);
    links.nics = 1 + static_cast<int>(generator() % links.members);
    links.nvlink = 4 * std::pow(10, exponent(generator));
    links.nic = .2 * std::pow(10, exponent(generator));
    const auto generation = static_cast<NcclGeneration>(generator() % 4);
    const bool between = generator() % 2 == 0;
    const Channels ring = ring_channels(links, generation, between);
    const Channels tree = tree_channels(links, generation, between, ring);
    const double hops = (links.members - 1.) / links.members;
    ASSERT_GE(ring.count, 1);
    if (ring.inside == .1) continue;  // nothing fits: one nominal channel
    EXPECT_LE(ring.count * ring.inside * (between ? hops : 1), links.nvlink * 1.0001);
    if (between) {
      EXPECT_LE(ring.count * ring.between, links.nics * links.nic * 1.0001);
    }
    EXPECT_EQ(tree.count, ring.count);
    EXPECT_GE(tree.inside, ring.inside);
    if (tree.inside > ring.inside) {
      EXPECT_LE(tree.count * tree.inside * hops, links.nvlink * 1.0001);
    }
  }
}

}  // namespace
}  // namespace windtunnel

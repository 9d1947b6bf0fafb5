#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/support/error_of.hpp"
#include "tests/support/small_job.hpp"
#include "validate/harness/execute/run_clock.hpp"

namespace windtunnel {
namespace {

struct Links {
  Cluster cluster = small_cluster(2, 4);  // NVLink 200 GB/s, a NIC of 25 GB/s per GPU
  LinkTable table = LinkTable(cluster);
  std::vector<LinkClocks::Bucket> buckets =
      std::vector<LinkClocks::Bucket>(static_cast<std::size_t>(table.count()));
  LinkClocks clocks = LinkClocks(table, buckets.data());
};

TEST(LinkClocks, TheNarrowestLinkOfTheWaySaysHowLong) {
  const Links links;
  const std::vector<LinkId> inside = links.clocks.route(0, 1);
  const std::vector<LinkId> across = links.clocks.route(0, 4);
  EXPECT_EQ(links.clocks.least_capacity(inside), 200e9);
  EXPECT_EQ(links.clocks.least_capacity(across), 25e9);
  EXPECT_DOUBLE_EQ(links.clocks.send(inside, 20e9, 1), 1.1);
  EXPECT_DOUBLE_EQ(links.clocks.send(across, 25e9, 2), 3);
  EXPECT_EQ(links.clocks.send(links.clocks.route(3, 3), 1e9, 5), 5) << "to oneself";
}

// Flows take turns: each gets half while both send, and the rest of the capacity is free for the
// other.
TEST(LinkClocks, FlowsShareALinkPieceByPiece) {
  const Links links;
  const std::vector<LinkId> first = links.clocks.route(0, 4);
  const std::vector<LinkId> second = links.clocks.route(0, 4);
  double first_s = 0, second_s = 0;
  for (int piece = 0; piece < 10; ++piece) {
    first_s = links.clocks.send(first, 2.5e9, first_s);
    second_s = links.clocks.send(second, 2.5e9, second_s);
  }
  EXPECT_NEAR(first_s, 1.9, 1e-9);
  EXPECT_NEAR(second_s, 2, 1e-9);
  EXPECT_NEAR(links.clocks.send(first, 25e9, 2), 3, 1e-9);
}

TEST(LinkClocks, ALinkThatIsListedTwiceCarriesTwice) {
  const Links links;
  const std::vector<LinkId> copy = links.clocks.resource(0, Resource::host_memory, 2);
  EXPECT_EQ(copy.size(), 2u);
  EXPECT_DOUBLE_EQ(links.clocks.send(copy, 200e9, 0), 2);
}

TEST(LinkClocks, NamesTheLinkWithoutBandwidth) {
  Links links;
  Cluster cluster = small_cluster(2, 1);
  cluster.node.nic_Bps = {};
  const LinkTable table(cluster);
  const LinkClocks clocks(table, links.buckets.data());
  EXPECT_EQ(error_of([&] { clocks.send(clocks.route(0, 1), 1, 0); }),
            "the plan sends data over 'nic-out 0', which has no bandwidth");
}

}  // namespace
}  // namespace windtunnel

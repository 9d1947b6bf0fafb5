#include <gtest/gtest.h>

#include "scenarios/language/library/library.hpp"
#include "validate/accuracy/runs/run_job.hpp"

namespace windtunnel {
namespace {

Cluster with_network(const char* text) {
  Cluster cluster;
  cluster.node = find_node("dgx-a100");
  cluster.fabric = find_fabric("full-bisection").fabric;
  set_stated_network(text, cluster);
  return cluster;
}

TEST(StatedNetwork, NicsOfANode) {
  const Cluster counted = with_network("4x100Gb/s RoCE per node");
  EXPECT_EQ(counted.node.nics, 4);
  EXPECT_EQ(counted.node.nic_Bps.value, 12.5e9);
  EXPECT_EQ(counted.fabric.transport, Transport::roce);
  const Cluster in_all = with_network("400 Gb/s per node");
  EXPECT_EQ(in_all.node.nics * in_all.node.nic_Bps.value, 50e9);
}

TEST(StatedNetwork, ANodeOfARackIsATray) {
  Cluster cluster;
  cluster.node = find_node("gb200-nvl72");
  set_stated_network("4 x 800 Gb/s per node", cluster);
  EXPECT_EQ(cluster.node.nics, 72);
  EXPECT_EQ(cluster.node.nic_Bps.value, 100e9);
}

TEST(StatedNetwork, DelayOfAThrottledLink) {
  const Cluster throttled = with_network("p3.2xlarge, one V100 each, TCP; delay 5 ms, 2 Gb/s");
  EXPECT_EQ(throttled.node.nic_Bps.value, 0.25e9);
  EXPECT_EQ(throttled.fabric.hop_latency_s.value, 5e-3);
  EXPECT_EQ(throttled.fabric.transport, Transport::tcp);
  EXPECT_EQ(with_network("TCP; 0.1 ms, up to 10 Gb/s (default)").fabric.hop_latency_s.value, 1e-4);
}

TEST(StatedNetwork, WordsThatDoNotSaySoLeaveTheNodes) {
  for (const char* text : {"", "DGX-H100", "A100 80GB with 1600 Gbps node-node interconnect (RoCE)",
                           "XGMI; host network  x 100Gb/s Ethernet"}) {
    const Cluster left = with_network(text);
    EXPECT_EQ(left.node, find_node("dgx-a100")) << text;
    EXPECT_EQ(left.fabric, find_fabric("full-bisection").fabric) << text;
  }
}

}  // namespace
}  // namespace windtunnel

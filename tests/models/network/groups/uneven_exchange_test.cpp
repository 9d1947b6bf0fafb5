#include "models/network/groups/uneven_exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "models/base/random.hpp"

namespace windtunnel {
namespace {

// Returns a cluster of nodes with four GPUs each.
Cluster cluster_of(int nodes) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.node.gpus = 4;
  return cluster;
}

std::vector<std::int32_t> all_gpus(int nodes) {
  std::vector<std::int32_t> gpus(4 * nodes);
  std::iota(gpus.begin(), gpus.end(), 0);
  return gpus;
}

double sum_of(const std::vector<double>& sent, std::size_t n, const auto& counts) {
  double sum = 0;
  for (std::size_t from = 0; from < n; ++from) {
    for (std::size_t to = 0; to < n; ++to) sum += counts(from, to) ? sent[from * n + to] : 0;
  }
  return sum;
}

UnevenExchange random_exchange(RandomStream& random, std::size_t n) {
  UnevenExchange exchange;
  exchange.received.resize(n);
  for (double& weight : exchange.received) weight = random.uniform();
  const double mean = std::accumulate(exchange.received.begin(), exchange.received.end(), 0.0) /
                      static_cast<double>(n);
  for (double& weight : exchange.received) weight /= mean;
  return exchange;
}

// In closed form, the bytes of the phases are those that the busiest member and the busiest NIC
// receive by the matrix.
TEST(UnevenExchange, PhasesCarryWhatTheFullestGet) {
  RandomStream random(8, RandomPurpose::test, 0);
  for (int i = 0; i < 100; ++i) {
    const int nodes = 1 + i % 4;
    const Cluster cluster = cluster_of(nodes);
    const auto gpus = all_gpus(nodes);
    const std::size_t n = gpus.size();
    UnevenExchange exchange = random_exchange(random, n);
    GroupShape shape;
    shape.members = static_cast<int>(n);
    shape.nodes = nodes;
    shape.members_per_node = shape.members_per_nic = 4;
    const ExchangePhases phases = exchange_phases(exchange, shape, 7e6);
    EXPECT_EQ(phases.inside.bytes, 7e6 * exchange.most());
    EXPECT_EQ(phases.inside.shape.nodes, 1);
    EXPECT_EQ(phases.across.bytes > 0, nodes > 1);
    if (nodes == 1) continue;
    double fullest = 0;
    for (int node = 0; node < nodes; ++node) {
      double sum = 0;
      for (int member = 4 * node; member < 4 * (node + 1); ++member) {
        sum += exchange.received[member] / 4;
      }
      fullest = std::max(fullest, sum);
    }
    EXPECT_NEAR(phases.across.bytes, 7e6 * fullest, 1e-3);
    exchange.locality = random.uniform();
    const ExchangePhases local = exchange_phases(exchange, shape, 7e6);
    const double left = 1 - 1.0 / nodes;
    EXPECT_NEAR(local.inside.bytes, phases.inside.bytes * *exchange.locality, 1e-3);
    EXPECT_NEAR(local.across.bytes, phases.across.bytes * (1 - *exchange.locality) / left, 1e-3);
  }
}

TEST(UnevenExchange, EachSendsAllOfItsOwnAndGetsItsShare) {
  RandomStream random(5, RandomPurpose::test, 0);
  for (int nodes = 1; nodes < 5; ++nodes) {
    const Cluster cluster = cluster_of(nodes);
    const auto gpus = all_gpus(nodes);
    const std::size_t n = gpus.size();
    const UnevenExchange exchange = random_exchange(random, n);
    const std::vector<double> sent = exchange_bytes(exchange, false, 7e6, gpus, cluster);
    const std::vector<double> back = exchange_bytes(exchange, true, 7e6, gpus, cluster);
    for (std::size_t member = 0; member < n; ++member) {
      EXPECT_NEAR(sum_of(sent, n, [&](auto from, auto) { return from == member; }), 7e6, 1e-3);
      EXPECT_NEAR(sum_of(sent, n, [&](auto, auto to) { return to == member; }),
                  7e6 * exchange.received[member], 1e-3);
      for (std::size_t to = 0; to < n; ++to) {
        EXPECT_EQ(sent[member * n + to], back[to * n + member]);
      }
    }
  }
}

TEST(UnevenExchange, LocalityKeepsItsShareInTheNode) {
  RandomStream random(6, RandomPurpose::test, 0);
  const Cluster cluster = cluster_of(3);
  const auto gpus = all_gpus(3);
  const auto in_node = [](std::size_t from, std::size_t to) { return from / 4 == to / 4; };
  for (const double locality : {0.0, 0.3, 1.0}) {
    UnevenExchange exchange = random_exchange(random, gpus.size());
    exchange.locality = locality;
    const std::vector<double> sent = exchange_bytes(exchange, false, 1e6, gpus, cluster);
    EXPECT_NEAR(sum_of(sent, gpus.size(), in_node), locality * 12e6, 1e-3);
    EXPECT_NEAR(std::accumulate(sent.begin(), sent.end(), 0.0), 12e6, 1e-3);
  }
  const UnevenExchange even;
  const std::vector<double> by_chance = exchange_bytes(even, false, 1e6, gpus, cluster);
  for (const double bytes : by_chance) EXPECT_NEAR(bytes, 1e6 / 12, 1e-6);
  EXPECT_EQ(exchange_bytes({.locality = 1.0 / 3}, false, 1e6, gpus, cluster).size(), 144u);
  EXPECT_NEAR(exchange_bytes({.locality = 1.0 / 3}, false, 1e6, gpus, cluster)[5], 1e6 / 12, 1e-6);
}

// If all experts of a node are hot ones, every rank has copies of them, and nothing is sent there.
TEST(UnevenExchange, NobodyMayGetAnything) {
  const auto gpus = all_gpus(2);
  const UnevenExchange none{std::vector<double>(8, 0), std::nullopt};
  for (const double bytes : exchange_bytes(none, false, 0, gpus, cluster_of(2))) {
    EXPECT_EQ(bytes, 0);
  }
  const UnevenExchange one_node{{0, 0, 0, 0, 2, 2, 2, 2}, std::nullopt};
  const auto sent = exchange_bytes(one_node, false, 8, gpus, cluster_of(2));
  EXPECT_EQ(sent[0 * 8 + 1], 0);
  EXPECT_EQ(sent[0 * 8 + 4], 2);
  EXPECT_EQ(one_node.most(), 2);
}

}  // namespace
}  // namespace windtunnel

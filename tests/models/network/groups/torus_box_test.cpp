#include "models/network/groups/torus_box.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "models/base/random.hpp"
#include "models/network/collectives/collective.hpp"
#include "models/network/collectives/collective_edges.hpp"
#include "tests/models/network/collective_fixtures.hpp"

namespace windtunnel {
namespace {

// A torus of `sizes` nodes with one GPU each, cables of 50 GB/s, and NICs that carry six cables.
Cluster chips(std::vector<int> sizes) {
  const int nodes = std::accumulate(sizes.begin(), sizes.end(), 1, std::multiplies<>());
  Cluster cluster = make_cluster(nodes, 1, 1);
  cluster.node.nic_Bps = parameter(300e9);
  cluster.fabric.topology = Topology::torus;
  cluster.fabric.transport = Transport::ici;
  cluster.fabric.dimensions = std::move(sizes);
  cluster.fabric.link_Bps = parameter(50e9);
  return cluster;
}

std::vector<std::int32_t> first(int count) {
  std::vector<std::int32_t> gpus(count);
  std::iota(gpus.begin(), gpus.end(), 0);
  return gpus;
}

double all_gather_s(const std::vector<std::int32_t>& gpus, const Cluster& cluster, double bytes) {
  const Calibration calibration = make_calibration();
  const CollectiveCost cost =
      collective_cost(CollectiveKind::all_gather, CollectiveAlgorithm::torus,
                      group_shape(gpus, cluster), bytes, cluster, calibration);
  EXPECT_EQ(cost.algorithm, CollectiveAlgorithm::torus);
  return cost.transfer_s * calibration.nic_efficiency.value;
}

// In a whole torus a node receives over all its cables, in both directions of each dimension; the
// node at the end of a line has one cable.
TEST(TorusBox, BytesTakeEveryCableOfTheNodeAtTheEnd) {
  constexpr double kBytes = 1e9;
  const auto expected = [&](int n, double cables) {
    return kBytes * (n - 1) / n / (cables * 50e9);
  };
  const Cluster cluster = chips({4, 8, 16});
  EXPECT_NEAR(all_gather_s(first(4), cluster, kBytes), expected(4, 2), 1e-12);    // a ring
  EXPECT_NEAR(all_gather_s(first(3), cluster, kBytes), expected(3, 1), 1e-12);    // a line
  EXPECT_NEAR(all_gather_s(first(8), cluster, kBytes), expected(8, 3), 1e-12);    // 4 x 2
  EXPECT_NEAR(all_gather_s(first(32), cluster, kBytes), expected(32, 4), 1e-12);  // 4 x 8
  EXPECT_NEAR(all_gather_s(first(64), cluster, kBytes), expected(64, 5), 1e-12);  // 4 x 8 x 2
  EXPECT_NEAR(all_gather_s(first(512), cluster, kBytes), expected(512, 6), 1e-12);
}

TEST(TorusBox, DimensionsGetWhatTheirCablesCarry) {
  Cluster cluster = chips({4, 4, 2});
  cluster.fabric.dimension_Bps = {50e9, 50e9, 5e9};
  constexpr double kBytes = 1e9;
  EXPECT_NEAR(all_gather_s(first(32), cluster, kBytes), kBytes * 31 / 32 / (4 * 50e9 + 5e9), 1e-12);
}

// Over all dimensions, every node sends all bytes once, to neighbours inside the box.
TEST(TorusBox, EveryNodeSendsAndReceivesOnce) {
  for (int trial = 0; trial < 200; ++trial) {
    RandomStream random(11, RandomPurpose::test, trial);
    std::vector<int> sizes;
    std::vector<std::vector<int>> at;
    for (int dimension = 0; dimension < 3; ++dimension) {
      sizes.push_back(1 + static_cast<int>(random.uniform() * 6));
      std::vector<int> own(sizes.back());
      std::iota(own.begin(), own.end(), 0);
      for (std::size_t i = own.size(); i > 1; --i) {
        std::swap(own[i - 1],
                  own[static_cast<std::size_t>(random.uniform() * static_cast<double>(i))]);
      }
      own.resize(1 + static_cast<std::size_t>(random.uniform() * static_cast<double>(own.size())));
      at.push_back(own);
    }
    std::vector<int> places;
    for (const int z : at[2]) {
      for (const int y : at[1]) {
        for (const int x : at[0]) places.push_back(x + sizes[0] * (y + sizes[1] * z));
      }
    }
    const Cluster cluster = chips(sizes);
    const auto box = TorusBox::of(places, cluster);
    ASSERT_EQ(box.has_value(), places.size() > 1);
    if (!box) continue;
    std::vector<double> out(places.size(), 0);
    std::vector<double> in(places.size(), 0);
    box->for_each_edge([&](std::size_t from, std::size_t to, double share) {
      ASSERT_NE(from, to);
      const auto along = [&](std::size_t i, int dimension) {
        int stride = 1;
        for (int d = 0; d < dimension; ++d) stride *= sizes[d];
        return places[i] / stride % sizes[dimension];
      };
      int differing = 0;
      for (int d = 0; d < 3; ++d) differing += along(from, d) != along(to, d) ? 1 : 0;
      ASSERT_EQ(differing, 1);
      out[from] += share;
      in[to] += share;
    });
    for (std::size_t i = 0; i < places.size(); ++i) {
      EXPECT_NEAR(out[i], 1, 1e-12);
      EXPECT_NEAR(in[i], 1, 1e-12);
    }
    // Removing a node leaves a hole in the box.
    if (places.size() > 2) {
      places.erase(places.begin() + 1);
      const bool line =
          std::ranges::count_if(at, [](const auto& own) { return own.size() > 1; }) == 1;
      EXPECT_EQ(TorusBox::of(places, cluster).has_value(), line);
    }
  }
}

// The flows load the busiest cable as the closed form says.
TEST(TorusBox, FlowsAgreeWithTheClosedForm) {
  const Cluster cluster = chips({4, 6, 3});
  const LinkTable links(cluster);
  const Calibration calibration = make_calibration();
  for (const int count : {2, 4, 12, 24, 72}) {
    for (const CollectiveKind kind :
         {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
      const auto gpus = first(count);
      const CollectiveCost cost = collective_cost(
          kind, CollectiveAlgorithm::torus, group_shape(gpus, cluster), 1e9, cluster, calibration);
      const CollectiveFlows flows =
          collective_flows(kind, CollectiveAlgorithm::torus, gpus, 1e9, cluster, calibration);
      ASSERT_EQ(flows.algorithm, CollectiveAlgorithm::torus);
      EXPECT_NEAR(busiest_link_s(flows.edges, gpus, links), cost.transfer_s, 1e-9 * cost.transfer_s)
          << to_string(kind) << " over " << count;
    }
  }
}

// NCCL lacks this algorithm: unless `ici` is requested the cheapest of NCCL's runs, and a group
// that fills no box cannot request it.
TEST(TorusBox, RunsByItselfBetweenTpusAlone) {
  Cluster cluster = chips({4, 4});
  const std::vector<std::int32_t> corner = {0, 1, 4};
  EXPECT_EQ(group_shape(corner, cluster).torus_steps, 0);
  const auto runs = [&] {
    return collective_cost(CollectiveKind::all_gather, {}, group_shape(first(16), cluster), 1e9,
                           cluster, make_calibration())
        .algorithm;
  };
  EXPECT_EQ(runs(), CollectiveAlgorithm::torus);
  cluster.fabric.transport = Transport::infiniband;
  EXPECT_EQ(runs(), CollectiveAlgorithm::ring);
}

}  // namespace
}  // namespace windtunnel

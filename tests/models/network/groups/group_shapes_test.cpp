#include "models/network/groups/group_shapes.hpp"

#include <gtest/gtest.h>

#include "tests/models/cost/cost_fixtures.hpp"
#include "tests/models/network/collective_fixtures.hpp"
#include "tests/support/shuffled_places.hpp"

namespace windtunnel {
namespace {

// Groups are on every rail and in pods of different sizes; the first repetition of a shape comes
// late in the order.
TEST(GroupShapes, AreThoseOfEachGroupMeasuredAlone) {
  for (const Topology topology : {Topology::rail_fat_tree, Topology::rail_only, Topology::fat_tree,
                                  Topology::clos, Topology::torus}) {
    for (const int nics : {8, 4, 3}) {
      Cluster cluster = test_cluster(30);
      cluster.fabric.topology = topology;
      cluster.fabric.nodes_per_pod = 7;
      cluster.fabric.dimensions = {5, 6};
      cluster.fabric.link_Bps = parameter(50e9);
      cluster.fabric.nodes_per_leaf = 3;
      cluster.node.nics = nics;
      cluster.node.package_gpus = 2;
      cluster.degraded_nics = {{.node = 11, .nic = 3, .factor = 0.5}};
      GroupShapes shapes(cluster);
      for (const int stride : {8, 10, 2, 16}) {
        for (const int size : {2, 5, 7}) {
          for (int first = 0; first + (size - 1) * stride < 240; ++first) {
            const auto gpus = strided(size, stride, first);
            EXPECT_EQ(shapes.of(gpus), group_shape(gpus, cluster))
                << size << " members from " << first << ", every " << stride;
          }
        }
      }
    }
  }
}

// The job's nodes may be anywhere on a larger machine.
TEST(GroupShapes, OfNodesAnywhere) {
  for (int i = 0; i < 20; ++i) {
    RandomStream random(5, RandomPurpose::test, i);
    Cluster cluster = test_cluster(20);
    cluster.fabric.topology = i % 2 == 0 ? Topology::rail_fat_tree : Topology::clos;
    cluster.fabric.nodes_per_pod = 7;
    cluster.fabric.nodes_per_leaf = 3;
    cluster.node.nics = i % 4 < 2 ? 8 : 4;
    cluster.degraded_nics = {{.node = 11, .nic = 3, .factor = 0.5}};
    shuffle_places(random, 10, cluster);
    GroupShapes shapes(cluster);
    for (const int stride : {8, 2, 16}) {
      for (const int size : {2, 5, 7}) {
        for (int first = 0; first + (size - 1) * stride < 160; ++first) {
          const auto gpus = strided(size, stride, first);
          EXPECT_EQ(shapes.of(gpus), group_shape(gpus, cluster))
              << size << " members from " << first << ", every " << stride;
        }
      }
    }
  }
}

// A group's members in a node need not be neighbours: 0 and 1 share a package, 1 and 2 do not.
TEST(GroupShapes, OfMembersInAnyOrder) {
  Cluster cluster = test_cluster(4);
  cluster.node.package_gpus = 2;
  for (const Topology topology : {Topology::fat_tree, Topology::torus}) {
    cluster.fabric.topology = topology;
    cluster.fabric.dimensions = {2, 2};
    cluster.fabric.link_Bps = parameter(50e9);
    cluster.node.nics = 4;
    GroupShapes shapes(cluster);
    for (const std::vector<std::int32_t>& gpus :
         {std::vector<std::int32_t>{0, 8, 1}, {1, 9, 2}, {0, 8, 2}}) {
      EXPECT_EQ(shapes.of(gpus), group_shape(gpus, cluster)) << gpus.back();
    }
  }
}

TEST(WorstShape, TakesTheWorstOfEachNumber) {
  Cluster cluster = test_cluster(10);
  cluster.fabric.nodes_per_pod = 4;  // pods of 4, 4, 2
  cluster.degraded_nics = {{.node = 9, .nic = 3, .factor = 0.5}};
  WorstShape worst(cluster);
  worst.add(strided(2, 8));      // nodes 0, 1
  worst.add(strided(2, 8, 24));  // nodes 3, 4: two pods
  EXPECT_EQ(worst.shape().nic_factor, 1);
  worst.add(strided(2, 8, 67));  // nodes 8, 9: the degraded NIC
  EXPECT_EQ(worst.shape().members, 2);
  EXPECT_EQ(worst.shape().nodes, 2);
  EXPECT_EQ(worst.shape().fabric_hops, 3);
  EXPECT_DOUBLE_EQ(worst.shape().load.ring, 1 / (4 * 50e9));  // of nodes 3, 4 only
  EXPECT_EQ(worst.shape().nic_factor, 0.5);
}

// Groups that are other groups shifted by whole nodes are recognised and skipped, which must not
// change the result.
TEST(WorstShape, IsThatOfAllGroupsTakenTogether) {
  Cluster cluster = test_cluster(30);
  cluster.fabric.nodes_per_pod = 7;
  cluster.node.package_gpus = 2;
  cluster.degraded_nics = {{.node = 11, .nic = 5, .factor = 0.5}};
  for (const int size : {2, 3, 5, 6, 12}) {
    for (const int stride : {1, 2, 8}) {
      WorstShape worst(cluster);
      GroupShape all;
      for (int block = 0; block < 240 / (size * stride); ++block) {
        for (int i = 0; i < stride; ++i) {
          const auto gpus = strided(size, stride, block * size * stride + i);
          worst.add(gpus);
          const GroupShape shape = group_shape(gpus, cluster);
          all = block + i == 0 ? shape : worse(all, shape);
        }
      }
      EXPECT_EQ(worst.shape(), all) << size << " members, every " << stride;
    }
  }
}

// On a torus, groups on the same nodes are recognised and skipped, which must not change the
// result.
TEST(WorstShape, IsThatOfAllGroupsOfATorus) {
  Cluster cluster = test_cluster(24);
  cluster.fabric.topology = Topology::torus;
  cluster.fabric.dimensions = {4, 6};
  cluster.fabric.link_Bps = parameter(50e9);
  cluster.degraded_nics = {{.node = 11, .nic = 5, .factor = 0.5}};
  for (const int size : {2, 3, 4}) {
    for (const int stride : {1, 8}) {
      WorstShape worst(cluster);
      GroupShape all;
      for (int first = 0; first < 192; first += size * stride) {
        for (int i = 0; i < stride; ++i) {
          const auto gpus = strided(size, stride, first + i);
          worst.add(gpus);
          const GroupShape shape = group_shape(gpus, cluster);
          all = first + i == 0 ? shape : worse(all, shape);
        }
      }
      EXPECT_EQ(worst.shape(), all) << size << " members, every " << stride;
      EXPECT_EQ(all.load.ring > 0, all.nodes > 1);
    }
  }
}

}  // namespace
}  // namespace windtunnel

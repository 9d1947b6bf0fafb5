#include "models/machine/fabrics/job_places.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "models/base/random.hpp"

namespace windtunnel {
namespace {

Cluster machine(int nodes, int nodes_per_pod) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.fabric.nodes_per_pod = nodes_per_pod;
  return cluster;
}

using Places = std::vector<std::vector<int>>;

TEST(JobPlaces, ByHand) {
  const Cluster pods = machine(8, 4);
  const auto places = [&](JobPlacement placement) {
    return places_of_jobs(pods, placement, {4, 2}, {{}, {}});
  };
  EXPECT_EQ(places(JobPlacement::packed), (Places{{0, 1, 2, 3}, {4, 5}}));
  EXPECT_EQ(places(JobPlacement::spread), (Places{{0, 4, 1, 5}, {2, 6}}));
  EXPECT_EQ(places(JobPlacement::interleaved), (Places{{0, 2, 4, 5}, {1, 3}}));
}

TEST(JobPlaces, WhatIsStatedGoesBefore) {
  EXPECT_EQ(places_of_jobs(machine(8, 0), JobPlacement::packed, {3, 2}, {{}, {1, 0}}),
            (Places{{2, 3, 4}, {1, 0}}));
}

TEST(JobPlaces, PartsOfEveryFabric) {
  Cluster cluster = machine(7, 3);
  EXPECT_EQ(fabric_parts(cluster), (Places{{0, 1, 2}, {3, 4, 5}, {6}}));
  cluster.fabric.topology = Topology::clos;
  cluster.fabric.nodes_per_leaf = 2;
  EXPECT_EQ(fabric_parts(cluster), (Places{{0, 1}, {2}, {3, 4}, {5}, {6}}));
  cluster.fabric.topology = Topology::sites;
  cluster.fabric.sites = {{.name = "a", .nodes = 2}, {.name = "b", .nodes = 5}};
  EXPECT_EQ(fabric_parts(cluster), (Places{{0, 1}, {2, 3, 4, 5, 6}}));
  cluster.fabric.topology = Topology::dragonfly;
  cluster.fabric.nodes_per_router = 2;
  cluster.fabric.routers_per_group = 2;
  EXPECT_EQ(fabric_parts(cluster), (Places{{0, 1, 2, 3}, {4, 5, 6}}));
  cluster.fabric.topology = Topology::torus;
  EXPECT_EQ(fabric_parts(cluster).size(), 1u);
}

TEST(JobPlaces, NobodySharesANodeAndAllHaveTheirs) {
  for (int i = 0; i < 500; ++i) {
    RandomStream random(1, RandomPurpose::test, i);
    const int jobs = 1 + static_cast<int>(random.below(5));
    std::vector<int> nodes(jobs);
    int wanted = 0;
    for (int& own : nodes) wanted += own = 1 + static_cast<int>(random.below(9));
    const Cluster cluster =
        machine(wanted + static_cast<int>(random.below(9)), static_cast<int>(random.below(6)));
    const JobPlacement placement = kChoices<JobPlacement>[random.below(3)].value;
    Places stated(jobs);
    if (i % 2 == 0) {
      for (int node = 0; node < nodes.back(); ++node) {
        stated.back().push_back(cluster.nodes - 1 - node);
      }
    }
    const Places places = places_of_jobs(cluster, placement, nodes, stated);
    std::set<int> taken;
    for (int job = 0; job < jobs; ++job) {
      EXPECT_EQ(std::ssize(places[job]), nodes[job]);
      taken.insert(places[job].begin(), places[job].end());
    }
    EXPECT_EQ(std::ssize(taken), wanted);
    EXPECT_TRUE(*taken.begin() >= 0 && *taken.rbegin() < cluster.nodes);
    if (i % 2 == 0) {
      EXPECT_EQ(places.back(), stated.back());
    }
    if (i % 2 == 1 && placement != JobPlacement::spread) {
      EXPECT_EQ(*taken.rbegin(), wanted - 1);  // only the first nodes are taken
    }
    if (placement != JobPlacement::spread || i % 2 == 0) continue;
    // Free parts have at most one node of the first job fewer than any other part.
    const Places parts = fabric_parts(cluster);
    const auto in = [&](const std::vector<int>& part) {
      return std::ranges::count_if(
          places.front(), [&](int node) { return std::ranges::find(part, node) != part.end(); });
    };
    for (const auto& part : parts) {
      for (const auto& other : parts) {
        if (in(part) == std::ssize(part)) continue;
        EXPECT_LE(in(other), in(part) + 1);
      }
    }
  }
}

}  // namespace
}  // namespace windtunnel

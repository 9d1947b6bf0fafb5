// Clusters, and routes as names of links, for tests of fabrics.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/base/error.hpp"
#include "models/machine/fabrics/fabric_links.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {

using Names = std::vector<std::string>;

inline Parameter exactly(double value) {
  return {value, value, value, Origin::assumed, "test"};
}

// Each node has `nics` GPUs and as many NICs of 10 bytes/s.
inline Cluster cluster_of(Topology topology, int nodes, int nics = 1) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.node.gpus = nics;
  cluster.node.nics = nics;
  cluster.node.nic_Bps = exactly(10);
  cluster.fabric.topology = topology;
  return cluster;
}

inline std::vector<int> route_of(const FabricLinks& links, int from, int to, int path = 0) {
  std::vector<int> route;
  links.append_route(from, to, path, route);
  return route;
}

inline Names names_of_route(const FabricLinks& links, int from, int to, int path = 0) {
  Names names;
  for (const int link : route_of(links, from, to, path)) names.push_back(links.name(link));
  return names;
}

inline int link_called(const FabricLinks& links, const std::string& name) {
  for (int link = 0; link < links.count(); ++link) {
    if (links.name(link) == name) return link;
  }
  ADD_FAILURE() << "no link " << name;
  return 0;
}

// The message of the Error that a fabric throws; "no error" if none.
inline std::string fabric_message(const Cluster& cluster) {
  return error_of([&] { make_fabric_links(cluster); });
}

// Bytes on each link if all pairs of NICs of different nodes exchange one byte over their first
// path.
inline std::vector<int> uniform_load(const FabricLinks& links, int nics, int nics_per_node = 1) {
  std::vector<int> load(links.count(), 0);
  for (int from = 0; from < nics; ++from) {
    for (int to = 0; to < nics; ++to) {
      if (from / nics_per_node == to / nics_per_node) continue;
      for (const int link : route_of(links, from, to)) ++load[link];
    }
  }
  return load;
}

// Expects that the names of a fabric's links are unique, and that no route uses a link twice.
inline void expect_well_formed(const FabricLinks& links, int nics, int nics_per_node = 1) {
  std::vector<std::string> names;
  for (int link = 0; link < links.count(); ++link) names.push_back(links.name(link));
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  for (int from = 0; from < nics; ++from) {
    for (int to = 0; to < nics; ++to) {
      if (from / nics_per_node == to / nics_per_node) continue;
      std::vector<std::vector<int>> routes;
      for (int path = 0; path < links.paths(from, to); ++path) {
        std::vector<int> route = route_of(links, from, to, path);
        for (const int link : route) {
          ASSERT_GE(link, 0);
          ASSERT_LT(link, links.count());
          EXPECT_GT(links.capacity(link), 0) << links.name(link);
        }
        std::vector<int> sorted = route;
        std::sort(sorted.begin(), sorted.end());
        EXPECT_EQ(std::adjacent_find(sorted.begin(), sorted.end()), sorted.end());
        routes.push_back(route);
      }
      ASSERT_FALSE(routes.empty()) << from << " to " << to;
      std::sort(routes.begin(), routes.end());
      EXPECT_EQ(std::adjacent_find(routes.begin(), routes.end()), routes.end())
          << from << " to " << to;
    }
  }
}

}  // namespace windtunnel

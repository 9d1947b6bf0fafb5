// Trees of switches: rail-optimised and plain fat trees, rail-only, Clos of three levels (Leiserson
// 1985; Al-Fares et al. 2008). Every unit of a level (leaf, pod) has a bundle of uplinks per rail;
// way w of a bundle leads to spine w. Under Routing::spray a bundle is one link of the summed
// bandwidth. Between pods of a Clos a way is a core switch, which hangs on one spine of each pod:
// core c on spine c * spines / cores.
#pragma once

#include <memory>

#include "models/machine/fabrics/fabric_links.hpp"

namespace windtunnel {

// Whether a byte between NICs climbs to the lowest common switch and down: what this file is about.
bool is_tree(Topology topology);
// NIC i of every node hangs on rail i.
bool has_rails(Topology topology);

class TreeLinks : public FabricLinks {
 public:
  virtual int levels() const = 0;
  // The link of the level's bundle above a NIC, from the lowest level on; under Routing::spray.
  virtual int up_link(int level, int nic) const = 0;
  virtual int down_link(int level, int nic) const = 0;
  // From this node on, those that hang on the same lowest switches: ways to others are alike.
  virtual int nodes_alike(int node) const = 0;
};

// The names of links are "pod-up 3 rail 2 way 5": rails where there are several, ways where the
// routing is not spray. A unit with fewer nodes than others has fewer ways or narrower ones.
std::unique_ptr<const TreeLinks> make_tree_links(const Cluster& cluster);

}  // namespace windtunnel

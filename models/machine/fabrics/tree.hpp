// Trees of switches: rail-optimised and plain fat trees, rail-only, Clos of three levels (Leiserson
// 1985; Al-Fares et al. 2008). Every unit of a level (leaf, pod) has a bundle of uplinks per rail;
// link w of a bundle leads to spine w. Under Routing::spray a bundle is one link of the total
// bandwidth. Between pods of a Clos, each core switch is a path. It is attached to one spine of
// each pod: core c to spine c * spines / cores.
#pragma once

#include <memory>

#include "models/machine/fabrics/fabric_links.hpp"

namespace windtunnel {

// Whether the topology is a tree: bytes go up to the lowest common switch and down again.
bool is_tree(Topology topology);
// Whether NIC i of every node is attached to rail i.
bool has_rails(Topology topology);

class TreeLinks : public FabricLinks {
 public:
  virtual int levels() const = 0;
  // The bundle above a NIC at a level, counted from the lowest, as a link up and a link down. Call
  // these only under Routing::spray, where a bundle is one link.
  virtual int up_link(int level, int nic) const = 0;
  virtual int down_link(int level, int nic) const = 0;
  // Number of nodes from this one on that share its lowest switches, and so have the same paths to
  // others.
  virtual int nodes_alike(int node) const = 0;
};

// Link names are "pod-up 3 rail 2 way 5"; the rail is left out if there is only one, the way under
// Routing::spray. A unit with fewer nodes has fewer or narrower uplinks.
std::unique_ptr<const TreeLinks> make_tree_links(const Cluster& cluster);

}  // namespace windtunnel

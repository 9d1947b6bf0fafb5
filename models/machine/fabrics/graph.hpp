// An arbitrary network as a list of cables. Paths are the shortest by number of cables, all equal
// ones being alternatives (ECMP). This topology alone stores its routes: 4 bytes for each pair of a
// switch with NICs and any switch, in addition to the list.
#pragma once

#include <memory>
#include <string_view>

#include "models/machine/fabrics/fabric_links.hpp"

namespace windtunnel {

// Under spray, parallel cables between the same ends are one link of their total bandwidth. A node
// with cables to several switches forwards bytes if that is the shortest path.
std::unique_ptr<const FabricLinks> make_graph_links(const Cluster& cluster);

// The end of a cable by its name: "node 3", "node 3 nic 1" or a switch. Throws Error for a node or
// NIC that the cluster does not have.
struct CableEnd {
  int node = -1;  // -1: a switch
  int nic = -1;   // within the node; -1: all of them
};
CableEnd cable_end(std::string_view name, const Cluster& cluster);

}  // namespace windtunnel

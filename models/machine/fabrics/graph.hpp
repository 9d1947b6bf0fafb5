// Any network as a list of cables: shortest ways by number of cables, all equal ones of them ways
// of their own (ECMP). The one form of fabric that is stored: 4 bytes for each pair of a switch
// that NICs hang on and a switch, beside the list.
#pragma once

#include <memory>
#include <string_view>

#include "models/machine/fabrics/fabric_links.hpp"

namespace windtunnel {

// Under spray parallel cables between the same ends are one link of their summed bandwidth. A node
// with cables to several switches passes bytes on, where that is the shortest way.
std::unique_ptr<const FabricLinks> make_graph_links(const Cluster& cluster);

// What an end of a cable is by its name: "node 3", "node 3 nic 1" or a switch. Throws Error for a
// node or NIC that the cluster does not have.
struct CableEnd {
  int node = -1;  // of a switch
  int nic = -1;   // within the node; all of them
};
CableEnd cable_end(std::string_view name, const Cluster& cluster);

}  // namespace windtunnel

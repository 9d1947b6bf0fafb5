// Sites: the nodes in order of the list, each site with NICs and a fat tree of full bisection of
// its own, joined by a network that every site has one access to: data centres on a WAN, or islands
// of InfiniBand and of RoCE that only Ethernet joins.
//
// Holmes (Yang et al., arXiv 2312.03549): islands of different NICs.
#pragma once

#include <memory>

#include "models/machine/fabrics/fabric_links.hpp"

namespace windtunnel {

std::unique_ptr<const FabricLinks> make_site_links(const Cluster& cluster);

// In the cluster's list; of any other form the cluster is one site.
int site_of(const Cluster& cluster, int node);

}  // namespace windtunnel

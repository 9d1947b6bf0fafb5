// Sites: each takes the next nodes in order and has its own NICs and a fat tree of full bisection.
// The network between sites, which each reaches over one access link, is a WAN between data centres
// or the Ethernet between islands of InfiniBand and RoCE.
//
// Holmes (Yang et al., arXiv 2312.03549) trains on islands that have different NICs.
#pragma once

#include <memory>

#include "models/machine/fabrics/fabric_links.hpp"

namespace windtunnel {

std::unique_ptr<const FabricLinks> make_site_links(const Cluster& cluster);

// Index in the cluster's list of sites; other topologies are one site.
int site_of(const Cluster& cluster, int node);

}  // namespace windtunnel

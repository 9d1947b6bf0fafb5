// Applies a row's description of its network, "4x100Gb/s RoCE per node" or "TCP; delay 5 ms, 2
// Gb/s", to the cluster instead of its node type's network.
#pragma once

#include <string>

#include "models/machine/cluster.hpp"

namespace windtunnel {

// Sets the node's NICs and the fabric's transport and latency, as far as the text states them for a
// node (in a rack that is one NVLink domain: for a tray). A delay is one-way. A text that states
// less leaves the cluster unchanged.
void set_stated_network(const std::string& text, Cluster& cluster);

}  // namespace windtunnel

// What a row says of its network in words, "4x100Gb/s RoCE per node" or "TCP; delay 5 ms, 2 Gb/s",
// in place of what its node type has.
#pragma once

#include <string>

#include "models/machine/cluster.hpp"

namespace windtunnel {

// Sets NICs of the node, transport and latency of the fabric, as far as the text states them for a
// node (in a rack that is one NVLink domain: for a tray). A delay is that of a message one way.
// Texts that say less leave the cluster as it is.
void set_stated_network(const std::string& text, Cluster& cluster);

}  // namespace windtunnel

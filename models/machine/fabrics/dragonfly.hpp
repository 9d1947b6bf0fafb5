// Dragonfly: routers within a group are fully connected, and every two groups are joined by a
// bundle of cables; bytes travel local, global, local.
//
// The topology follows Kim, Dally, Scott & Abts, "Technology-driven, highly-scalable dragonfly
// topology", ISCA 2008, and De Sensi et al., "An in-depth analysis of the Slingshot interconnect",
// SC 2020.
#pragma once

#include <memory>

#include "models/machine/fabrics/fabric_links.hpp"

namespace windtunnel {

// All NICs of a node are attached to one router; routers of the last group may have fewer nodes or
// none. The bundle from group g to group h is attached to max(1, routers / (groups - 1)) routers of
// g, its gateways, taken in turn from (h - g) modulo the groups. Under spray the bundle is one
// link, entered at the gateway nearest to the sender's router; otherwise each gateway's cable is a
// link and a path. If a whole bundle failed, every third group gives a path (Valiant's routing).
// Adaptive routing always has these detours, and inside a group those over a third router; path 0
// is the minimal one.
std::unique_ptr<const FabricLinks> make_dragonfly_links(const Cluster& cluster);

}  // namespace windtunnel

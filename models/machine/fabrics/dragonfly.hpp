// Dragonfly: routers of a group all joined to each other, every two groups joined by a bundle of
// cables; bytes go local, global, local.
//
// Kim, Dally, Scott & Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008;
// De Sensi et al., "An in-depth analysis of the Slingshot interconnect", SC 2020.
#pragma once

#include <memory>

#include "models/machine/fabrics/fabric_links.hpp"

namespace windtunnel {

// All NICs of a node hang on one router; the routers of the last group may have fewer nodes or
// none. The bundle of group g to group h hangs on as many routers of g as there are for each other
// group, at least one, taken in turn from (h - g) modulo the groups. Under spray the bundle is one
// link and a byte takes it from the gateway that its own router is nearest to; otherwise each
// gateway's cable is a link and a way of its own. Where the whole bundle failed, every third group
// is a way (Valiant's routing). Adaptive routing has these detours always, inside a group those
// over a third router, and way 0 is the minimal one.
std::unique_ptr<const FabricLinks> make_dragonfly_links(const Cluster& cluster);

}  // namespace windtunnel

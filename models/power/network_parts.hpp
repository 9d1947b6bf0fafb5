// What a network is built of: switches and cables, counted from the form of the fabric for as many
// nodes as the cluster has. A switch has `ports`; a unit that is larger than one is a folded Clos
// of full bisection (Leiserson 1985; Al-Fares et al. 2008): (2 t - 1) n / ports switches and t n
// cables for n NICs in t tiers. Cables end in a transceiver on either side.
#pragma once

#include <string>

#include "models/base/origin.hpp"
#include "models/machine/cluster.hpp"

namespace windtunnel {

// One kind of switch, and one end of a cable between two of its ports: watts and USD, from
// scenarios/library/power.yaml or cluster.power.
struct NetworkKit {
  std::string name;  // of the library; empty: nothing is known of such a network
  int ports = 64;
  double port_Bps = 50e9;
  Parameter switch_W;
  Parameter switch_usd;
  Parameter end_W;
  Parameter end_usd;
};

struct NetworkParts {
  double switches = 0;
  double cables = 0;
};

// Counts what `nodes` nodes of the cluster need; one node alone needs no network. The wide-area
// network between sites is left out.
NetworkParts network_parts(const Cluster& cluster, const NetworkKit& kit, double nodes);

// Watts and USD of these parts; 0 of a kit that knows none.
double network_watts(const NetworkParts& parts, const NetworkKit& kit);
double network_usd(const NetworkParts& parts, const NetworkKit& kit);

}  // namespace windtunnel

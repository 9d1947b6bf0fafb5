// The parts of a network, switches and cables, counted from the fabric's topology for the cluster's
// number of nodes. A switch has `ports`; a unit larger than one switch is a folded Clos of full
// bisection (Leiserson 1985; Al-Fares et al. 2008): (2 t - 1) n / ports switches and t n cables for
// n NICs in t tiers. Each cable has a transceiver at either end.
#pragma once

#include <string>

#include "models/base/origin.hpp"
#include "models/machine/cluster.hpp"

namespace windtunnel {

// A type of switch, and one end of a cable between two of its ports: watts and USD, from
// scenarios/library/power.yaml or cluster.power.
struct NetworkKit {
  std::string name;  // in the library; empty: nothing is known about such a network
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

// The parts that `nodes` nodes of the cluster need; a single node needs none. The wide-area network
// between sites is excluded.
NetworkParts network_parts(const Cluster& cluster, const NetworkKit& kit, double nodes);

// Watts and USD of these parts; 0 if the kit does not know them.
double network_watts(const NetworkParts& parts, const NetworkKit& kit);
double network_usd(const NetworkParts& parts, const NetworkKit& kit);

}  // namespace windtunnel

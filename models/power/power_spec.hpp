// What draws how many watts: GPUs between idling and their limit, the rest of a node, switches,
// storage, the building (PUE). Of a GPU that computes with its whole chip it is `computing` of the
// way from idling to the limit, of one whose kernels move bytes between GPUs `communicating`;
// both at once add up to the limit at most. A cap lowers the clock. Origins and intervals of the
// shares: docs/physics/power.md.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "models/base/origin.hpp"
#include "models/power/network_parts.hpp"

namespace windtunnel {

// Power of the nodes of one kind.
struct NodePower {
  Parameter gpu_W;       // of a GPU at its limit (TDP)
  Parameter gpu_idle_W;  // power of a GPU that runs nothing
  Parameter rest_W;      // of a node besides GPUs: CPUs, memory, NICs, fans, losses
};

struct PowerSpec;

// A number that the scenario leaves at its default, which may be otherwise.
struct UnsureDefault {
  double PowerSpec::*member = nullptr;
  double low = 0;
  double high = 0;
};

struct PowerSpec {
  std::vector<NodePower> nodes;  // [pool]; of nodes of one kind: one
  double computing = 1;
  double communicating = 0.35;
  NetworkKit kit;                  // what the fabric is built of
  std::optional<double> switch_W;  // of the fabric, per NIC of a node; none: of its parts
  double storage_W = 0;            // of the shared storage as a whole
  double pue = 1.1;                // what the building draws, over what its machines do
  int rack_nodes = 4;              // consecutive nodes of the job
  double cap_W = 0;                // of a GPU; 0: its limit alone
  double clock_power = 3;          // dynamic power goes with this power of the clock
  double usd_per_kWh = 0;          // 0: no price is known
  // What machines cost whose owner writes them off; 0: no price is known.
  double node_usd = 0;            // of a node with all that is in it
  std::optional<double> nic_usd;  // of the network, per NIC of a node; none: of its parts
  double years = 4;               // until they are worth nothing, in use all the time
  double more_nodes = 0;          // in a row, over those that its supply was planned for
  bool row_apart = false;  // its nodes are each in a phase of their own: servers, jobs of one node
  std::vector<UnsureDefault> unsure = {};

  const NodePower& of_pool(int pool) const { return nodes[std::max(pool, 0)]; }
};

inline constexpr double kJoulesPerKWh = 3.6e6;

// The spec with one of its numbers at an end of its interval: numbers of GPUs and nodes from the
// library, other numbers where they are defaults.
struct PowerVariant {
  PowerSpec low;
  PowerSpec high;
};
std::vector<PowerVariant> power_variants(const PowerSpec& spec);

// Watts of a GPU whose kernels are busy to `activity`, 0 to 1.
double gpu_watts(const PowerSpec& spec, const NodePower& node, double activity);
// How busy a GPU is when these shares of it, 0 to 1, compute and send.
double activity_of(const PowerSpec& spec, double computing, double communicating);
// The clock under the cap, over the one without: such that a GPU that computes draws the cap,
// idle + (limit - idle) computing clock^clock_power = cap. The cap is above what it idles at.
double clock_under_cap(const PowerSpec& spec, const NodePower& node);

}  // namespace windtunnel

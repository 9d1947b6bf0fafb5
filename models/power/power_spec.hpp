// Power in watts: GPUs between idle and their limit, the rest of a node, switches, storage, the
// building (PUE). A GPU that computes at full occupancy draws `computing` of the range from idle to
// the limit; one whose kernels move data between GPUs draws `communicating`; both together draw at
// most the limit. A cap lowers the clock. Origins and intervals of these shares:
// docs/physics/power.md.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "models/base/origin.hpp"
#include "models/power/network_parts.hpp"

namespace windtunnel {

struct NodePower {
  Parameter gpu_W;       // of a GPU at its limit (TDP)
  Parameter gpu_idle_W;  // of a GPU that runs nothing
  Parameter rest_W;      // of a node apart from GPUs: CPUs, memory, NICs, fans, losses
};

struct PowerSpec;

// A number that the scenario leaves at its default, and the range in which it may lie.
struct UnsureDefault {
  double PowerSpec::*member = nullptr;
  double low = 0;
  double high = 0;
};

struct PowerSpec {
  std::vector<NodePower> nodes;  // [pool]; one entry if all nodes are alike
  double computing = 1;
  double communicating = 0.35;
  NetworkKit kit;                  // switches and cables of the fabric
  std::optional<double> switch_W;  // of the fabric, per NIC of a node; none: derived from its parts
  double storage_W = 0;            // total of the shared storage
  double pue = 1.1;                // power of the building / power of its machines
  int rack_nodes = 4;              // consecutive nodes of the job
  double cap_W = 0;                // per GPU; 0: only its own limit
  double clock_power = 3;          // dynamic power is proportional to clock^clock_power
  double usd_per_kWh = 0;          // 0: the price is unknown
  // Cost of machines, depreciated by their owner; 0: the price is unknown.
  double node_usd = 0;            // of a complete node
  std::optional<double> nic_usd;  // of the network, per NIC of a node; none: derived from its parts
  double years = 4;               // depreciation time, in continuous use
  // share of additional nodes in a row, beyond those its supply was planned for
  double more_nodes = 0;
  // the row's nodes are in independent phases: inference servers, or jobs of one node
  bool row_apart = false;
  std::vector<UnsureDefault> unsure = {};

  const NodePower& of_pool(int pool) const { return nodes[std::max(pool, 0)]; }
};

inline constexpr double kJoulesPerKWh = 3.6e6;

// The spec with one uncertain number at either end of its interval. Uncertain are the library's
// numbers of GPUs and nodes, and others left at their defaults.
struct PowerVariant {
  PowerSpec low;
  PowerSpec high;
};
std::vector<PowerVariant> power_variants(const PowerSpec& spec);

// Watts of a GPU at this activity, from 0 (idle) to 1 (limit).
double gpu_watts(const PowerSpec& spec, const NodePower& node, double activity);
// Activity of a GPU, given the shares (0 to 1) of it that compute and that communicate.
double activity_of(const PowerSpec& spec, double computing, double communicating);
// The clock with the cap relative to without: a computing GPU then draws the cap, idle + (limit -
// idle) computing clock^clock_power = cap. The cap must be above idle power.
double clock_under_cap(const PowerSpec& spec, const NodePower& node);

}  // namespace windtunnel

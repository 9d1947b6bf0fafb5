// Why pairs of nodes of one cluster differ, as a model of three things: nodes that hang on
// different leaves collide on uplinks, jobs meet others at NICs that they share, and contention
// grows with buffers beyond 512 MiB. Each was found in the timings of two clusters of H100 (all
// pairs, all-to-all and send-receive; github.com/xxrjun/nccl-tests-cluster 455de4f).
//
// What was seen, and what of it has no known cause: docs/physics/collectives.md, "Why pairs of
// nodes differ".
#pragma once

#include <array>
#include <vector>

#include "models/machine/fabric.hpp"
#include "validate/accuracy/pairs/pair_rows.hpp"

namespace windtunnel {

// Bus bandwidth of jobs that meet nobody.
struct ClearLevel {
  CollectiveKind kind = CollectiveKind::all_to_all;
  int gpus_per_node = 1;
  double same_leaf_Bps = 0;
  double across_Bps = 0;
};

// Log-normal over jobs.
struct ContentionGrowth {
  double median = 0;  // per late byte
  double sigma = 0;
};

struct PairVariation {
  int node_gpus = 8;      // and NICs
  std::vector<int> leaf;  // of every node
  int leaves = 1;
  int uplinks = 0;           // between two leaves; 0: no contention was seen there
  double uplink_nics = 0;    // bandwidth of one, in NICs
  NicVariation shared_nics;  // for jobs that leave GPUs of their nodes to others
  ContentionGrowth uplink_growth;
  // Of jobs that load one NIC, and of those that load several at once, as an all-to-all does and a
  // send-receive does not: what they feel of a shared NIC's excess, and its growth.
  std::array<double, 2> felt_excess = {1, 1};
  std::array<ContentionGrowth, 2> nic_growth;
  std::vector<ClearLevel> levels;

  bool across(const PairPoint& pair) const { return leaf[pair.a] != leaf[pair.b]; }
  const ClearLevel& level(CollectiveKind kind, int gpus_per_node) const;
};

// Of the size, what lies beyond 512 MiB.
double late_bytes(double bytes);

bool loads_several_nics(CollectiveKind kind, int gpus_per_node);

// Share by which jobs of a kind take longer than alone, by draw: of their connections' collisions
// on the uplinks, and of their slowest NIC. Both from the routes and capacities that a simulation
// uses; 0 where nothing is met. Of the second a job that loads several NICs feels a part.
std::vector<double> uplink_excess(const PairVariation& variation, CollectiveKind kind,
                                  int gpus_per_node, int draws);
std::vector<double> nic_excess(const PairVariation& variation, int gpus_per_node, int draws);

}  // namespace windtunnel

// A model of why pairs of nodes in a cluster differ. Jobs between nodes on different leaves collide
// on uplinks; jobs meet others at shared NICs; contention grows with buffers beyond 512 MiB. All
// three were found in the timings of two clusters of H100 (all pairs, all-to-all and send-receive;
// github.com/xxrjun/nccl-tests-cluster 455de4f).
//
// docs/physics/collectives.md, "Why pairs of nodes differ", lists the observations, including those
// without a known cause.
#pragma once

#include <array>
#include <vector>

#include "models/machine/fabric.hpp"
#include "validate/accuracy/pairs/pair_rows.hpp"

namespace windtunnel {

// Jobs without contention reach these bus bandwidths.
struct ClearLevel {
  CollectiveKind kind = CollectiveKind::all_to_all;
  int gpus_per_node = 1;
  double same_leaf_Bps = 0;
  double across_Bps = 0;
};

// Log-normally distributed over jobs.
struct ContentionGrowth {
  double median = 0;  // per late byte
  double sigma = 0;
};

struct PairVariation {
  int node_gpus = 8;      // also the number of NICs
  std::vector<int> leaf;  // [node]
  int leaves = 1;
  int uplinks = 0;           // between two leaves; 0: no contention was seen there
  double uplink_nics = 0;    // bandwidth of one, relative to a NIC
  NicVariation shared_nics;  // for jobs that leave GPUs of their nodes to others
  ContentionGrowth uplink_growth;
  // For jobs that load one NIC, and for jobs that load several at once (an all-to-all, but not a
  // send-receive): the share of a shared NIC's excess that they feel, and its growth.
  std::array<double, 2> felt_excess = {1, 1};
  std::array<ContentionGrowth, 2> nic_growth;
  std::vector<ClearLevel> levels;

  bool across(const PairPoint& pair) const { return leaf[pair.a] != leaf[pair.b]; }
  const ClearLevel& level(CollectiveKind kind, int gpus_per_node) const;
};

// Returns the bytes beyond 512 MiB.
double late_bytes(double bytes);

bool loads_several_nics(CollectiveKind kind, int gpus_per_node);

// Return for each draw the relative delay of jobs of a kind: from collisions of their connections
// on the uplinks, and from their slowest NIC. Both use the routes and capacities of a simulation;
// they are 0 without contention. A job that loads several NICs feels only a part of the second
// delay.
std::vector<double> uplink_excess(const PairVariation& variation, CollectiveKind kind,
                                  int gpus_per_node, int draws);
std::vector<double> nic_excess(const PairVariation& variation, int gpus_per_node, int draws);

// True for sizes 2^k bytes with odd k; even ones are for judging.
bool fitted_size(double bytes);

// Fits the causes of differences between pairs of nodes to timings of all pairs: leaves from which
// pairs are slow, uplinks from quantiles of their slowness, shared NICs by maximum likelihood.
// Throws Error if a machine has no all-to-all of whole nodes at a fitted size.
PairVariation fit_pair_variation(const PairMachine& machine);

}  // namespace windtunnel

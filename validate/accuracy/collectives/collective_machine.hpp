// From a measured row of nccl-tests to the machine it ran on. What rows say of it is text ("H100
// 80GB SXM", "InfiniBand NDR 8x400Gb/s/node"): rules read GPU, transport, NICs and bandwidths from
// it, and what they cannot read is an Error with the reason, never a guess without a word.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/machine/cluster.hpp"
#include "models/network/collectives/collective.hpp"
#include "traces/nccl/nccl_tests.hpp"

namespace windtunnel {

// What a text says of the network between nodes.
struct NetworkText {
  Transport transport = Transport::infiniband;
  bool names_transport = false;
  bool nvlink = false;      // NVLink or NVSwitch inside the node
  double nvlink_Bps = 0;    // by its generation; 0: not stated
  double pcie_Bps = 0;      // GPUs reach each other over PCIe of this generation; 0: not stated
  int nvlink_domain = 0;    // GPUs of one NVLink domain over several nodes (NVL72); 0: none
  int nics = 0;             // per node; 0: not stated
  double nics_per_gpu = 0;  // where the text says so instead
  double nic_Bps = 0;       // per NIC and direction; 0: not stated
  bool nvls = false;        // NVLink SHARP is named
  bool sharp = false;       // reduction in the network's switches is named
  std::vector<std::string> assumed;
};
NetworkText read_network(const std::string& text);

struct CollectiveMachine {
  Cluster cluster;
  std::vector<std::int32_t> gpus;  // the first ones of each node
  GroupShape shape;                // of `gpus`
  bool sharp = false;              // SHARP in the network's switches
  std::string calibration;         // of the library, for this GPU
  int nccl_release = 0;            // as 23 for NCCL 2.23, which picks by its table; 0: not stated
  // GPUs that one process drives, and so launches kernels on one after the other; 1: each its own.
  int process_gpus = 1;
  std::vector<std::string> assumed;  // in the order in which it was decided
};

// GPUs per node that any row of a machine uses, the most, by machine: rows on a part of each node
// then lie on the first GPUs of nodes of that size.
using NodeSizes = std::map<std::string, int>;
NodeSizes node_sizes(const std::vector<CollectiveRow>& rows);

// Throws Error with the reason when the row does not say enough.
CollectiveMachine machine_of(const CollectiveRow& row, const NodeSizes& sizes);

// What the row's notes say was forced: "NCCL_ALGO=Tree" or "NCCL algorithm requested: tree", and
// "NCCL_PROTO=LL".
CollectiveChoice forced_choice(const std::string& notes);

// What runs where an algorithm is forced. NCCL ignores one that the machine or the kind has not
// (its tuning.cc then allows rings and trees again), NVLSTree apart, after which only the ring is
// left: so MareNostrum 5's curves by algorithm have it (github.com/HLC-Lab/pico 413bc5d).
struct RunningChoice {
  CollectiveChoice choice;
  std::string fell_back;  // for people; empty: what was forced runs
};
RunningChoice running_choice(CollectiveKind kind, CollectiveChoice forced,
                             const CollectiveMachine& machine);

// Whether measured collectives are off to one side: then it is the network that differs from what
// the prediction is of, and not noise, and the ratio says by how much.

struct NetworkPace {
  int points = 0;
  double ratio = 1;      // median of predicted / measured seconds: what it gives of the predicted
  double same_side = 0;  // share of the points that are off to the side of the median

  // Off by more than a quarter in the median, and three of four points to that side: beyond what
  // repeats of one collective differ by.
  bool one_sided() const;
};

// `ratios`: predicted / measured seconds of each point.
NetworkPace pace_of(const std::vector<double>& ratios);

// "gives 46 % of what is predicted (median of 24 points from 1 MB, 24 of them slower)". `than`:
// what is predicted. Nothing: the points are not off to one side.
std::optional<std::string> pace_text(const NetworkPace& pace, const std::string& than);

}  // namespace windtunnel

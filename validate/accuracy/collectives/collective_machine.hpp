// Derives the machine of a measured row of nccl-tests. Rows describe it in text ("H100 80GB SXM",
// "InfiniBand NDR 8x400Gb/s/node"), from which rules read GPU, transport, NICs and bandwidths. What
// they cannot read is an Error with the reason; every guess is listed.
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

// Holds what a text says about the network between nodes.
struct NetworkText {
  Transport transport = Transport::infiniband;
  bool names_transport = false;
  bool nvlink = false;      // NVLink or NVSwitch inside the node
  double nvlink_Bps = 0;    // from its generation; 0: not stated
  double pcie_Bps = 0;      // of the generation over which GPUs reach each other; 0: not stated
  int nvlink_domain = 0;    // GPUs of an NVLink domain that spans nodes (NVL72); 0: none
  int nics = 0;             // per node; 0: not stated
  double nics_per_gpu = 0;  // if the text states that instead
  double nic_Bps = 0;       // per NIC and direction; 0: not stated
  bool nvls = false;        // the text names NVLink SHARP
  bool sharp = false;       // the text names reduction in the network's switches
  std::vector<std::string> assumed;
};
NetworkText read_network(const std::string& text);

struct CollectiveMachine {
  Cluster cluster;
  std::vector<std::int32_t> gpus;  // the first GPUs of each node
  GroupShape shape;                // of `gpus`
  bool sharp = false;              // SHARP in the network's switches
  std::string calibration;         // in the library, for this GPU
  // 23 for NCCL 2.23, whose table of choices applies; 0: not stated.
  int nccl_release = 0;
  // One process drives this many GPUs and launches kernels on them one after the other; 1: each GPU
  // has a process.
  int process_gpus = 1;
  std::vector<std::string> assumed;  // in the order of decisions
};

// The most GPUs per node in any row of a machine, by its name. Rows that use part of each node are
// placed on the first GPUs of nodes of that size.
using NodeSizes = std::map<std::string, int>;
NodeSizes node_sizes(const std::vector<CollectiveRow>& rows);

// Throws Error with the reason if the row does not state enough.
CollectiveMachine machine_of(const CollectiveRow& row, const NodeSizes& sizes);

// The choice that the notes say was forced: "NCCL_ALGO=Tree" or "NCCL algorithm requested: tree",
// and "NCCL_PROTO=LL".
CollectiveChoice forced_choice(const std::string& notes);

// Says what runs if an algorithm is forced. NCCL ignores an algorithm that the machine or the
// collective does not support (its tuning.cc then allows rings and trees again), except NVLSTree,
// after which only the ring is left. MareNostrum 5's curves by algorithm show this
// (github.com/HLC-Lab/pico 413bc5d).
struct RunningChoice {
  CollectiveChoice choice;
  std::string fell_back;  // in words; empty: the forced choice runs
};
RunningChoice running_choice(CollectiveKind kind, CollectiveChoice forced,
                             const CollectiveMachine& machine);

// Tells whether measured collectives deviate to one side. If they do, the network differs from the
// predicted one, rather than noise, and the ratio says by how much.
struct NetworkPace {
  int points = 0;
  // Median of predicted / measured seconds, which is the share of the predicted speed that the
  // network reaches.
  double ratio = 1;
  double same_side = 0;  // share of points on the same side as the median

  // Whether the median is off by more than a quarter and three of four points are on that side:
  // more than repeats of one collective differ.
  bool one_sided() const;
};

// `ratios` has predicted / measured seconds of each point.
NetworkPace pace_of(const std::vector<double>& ratios);

// Returns "gives 46 % of what is predicted (median of 24 points from 1 MB, 24 of them slower)";
// `than` describes the prediction. Returns nothing if the points do not deviate to one side.
std::optional<std::string> pace_text(const NetworkPace& pace, const std::string& than);

}  // namespace windtunnel

// The channels that NCCL uses on a node: their number and speed. NCCL searches the node's links for
// them; here they follow from the node's numbers under three assumptions: a channel takes the same
// speed, one of NCCL's list, from every NVLink port and from its NIC; the NVLink ports of a GPU act
// as one; NICs are spread evenly over members. This reproduces the search on DGX nodes (H100: 12
// channels of 30 GB/s in a node, 8 of 48 between nodes: github.com/NVIDIA/nccl, issue 1197).
// NVSwitches are assumed in nodes of more than four GPUs and in all of Blackwell's; in other nodes
// GPUs are connected directly.
//
// Source: NCCL 2.28.9, src/graph/search.cc (speeds tried) and src/graph/topo.h (GB/s per link).
#pragma once

#include <cstdint>

#include "models/machine/cluster.hpp"

namespace windtunnel {

enum NcclGeneration : std::uint8_t { kVolta, kAmpere, kHopper, kBlackwell };

struct Silicon {
  NcclGeneration generation;
  // share of nominal bandwidth that NCCL assumes: 20 of 25, 20.6 of 25, 40.1 of 50
  double nvlink_share;
  bool ll128;
};

const Silicon& silicon_of(GpuGeneration generation);

// What the search knows about a node, in GB/s.
struct NodeLinks {
  double nvlink = 0;  // of a member, towards the other members
  double nic = 0;     // through the host's bus
  int nics = 0;
  int members = 1;  // in the node
  bool nvswitch = false;
  bool pci_only = false;
};

NodeLinks node_links(const NodeSpec& node, const Silicon& silicon, int members);

// NCCL calls this a graph: the number of channels and their speeds in GB/s.
struct Channels {
  int count = 0;
  double inside = 0;
  double between = 0;
};

// Maximises total bandwidth, then speed per channel; a few fast channels are split in two each.
Channels ring_channels(const NodeLinks& links, NcclGeneration generation, bool between);

// A tree has as many channels as the ring. Inside the node a channel may be faster, up to NVLink's
// bandwidth and twice the NIC's speed, because a chain has one hop less than a ring.
Channels tree_channels(const NodeLinks& links, NcclGeneration generation, bool between,
                       const Channels& ring);

// Each channel has a head, the GPU that reduces one part of the data: it receives that part from
// all GPUs, and its own port carries the part twice.
Channels nvls_channels(const NodeLinks& links, NcclGeneration generation, bool between);

}  // namespace windtunnel

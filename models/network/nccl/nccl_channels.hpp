// The channels that NCCL finds on a node: how many, at which speed. It searches the links of the
// node for them; here they follow from the node's numbers. Every channel takes the same speed of
// NCCL's list from every NVLink port and from its NIC, the NVLink ports of a GPU act as one, and
// NICs are spread evenly over the members. That gives what the search gives on DGX nodes (H100: 12
// channels of 30 GB/s in a node, 8 of 48 between nodes: github.com/NVIDIA/nccl, issue 1197).
// NVSwitches are taken to be in nodes of more than four GPUs and in all of Blackwell's; elsewhere
// the GPUs of a node hang on each other directly.
//
// Source: NCCL 2.28.9, src/graph/search.cc (speeds tried) and src/graph/topo.h (GB/s per link).
#pragma once

#include <cstdint>

#include "models/machine/cluster.hpp"

namespace windtunnel {

enum NcclGeneration : std::uint8_t { kVolta, kAmpere, kHopper, kBlackwell };

struct Silicon {
  NcclGeneration generation;
  double nvlink_share;  // of nominal bandwidth that NCCL counts: 20 of 25, 20.6 of 25, 40.1 of 50
  bool ll128;
};

const Silicon& silicon_of(GpuGeneration generation);

// What the search knows of a node, GB/s.
struct NodeLinks {
  double nvlink = 0;  // of a member, towards the other members
  double nic = 0;     // through the host's bus
  int nics = 0;
  int members = 1;  // in the node
  bool nvswitch = false;
  bool pci_only = false;
};

NodeLinks node_links(const NodeSpec& node, const Silicon& silicon, int members);

// What NCCL calls a graph: the number of channels and their speeds, GB/s.
struct Channels {
  int count = 0;
  double inside = 0;
  double between = 0;
};

// The most bandwidth, at the highest speed; few fast channels are split in two.
Channels ring_channels(const NodeLinks& links, NcclGeneration generation, bool between);

// A tree has as many channels as the ring, each as fast in the node as NVLink and twice the NIC's
// speed allow: a chain takes one hop less than a ring.
Channels tree_channels(const NodeLinks& links, NcclGeneration generation, bool between,
                       const Channels& ring);

// One per head, the GPU that reduces a part: it takes that from all, and twice from its own port.
Channels nvls_channels(const NodeLinks& links, NcclGeneration generation, bool between);

}  // namespace windtunnel

// NCCL's own latencies by algorithm and protocol, in microseconds: per collective, and per step
// over NVLink, PCIe and the network. Its tuner chooses by them
// (models/network/nccl/nccl_tuner.hpp); a machine's law scales them
// (models/calibration/interconnect_law.hpp).
//
// The numbers come from NCCL 2.28.9 (github.com/NVIDIA/nccl), src/graph/tuning.cc.
#pragma once

#include <array>

#include "models/network/groups/collective_choice.hpp"

namespace windtunnel {

using ByProtocol = std::array<double, 3>;  // LL, LL128, Simple

struct NcclLatencies {
  CollectiveAlgorithm algorithm;
  ByProtocol base_us;
  ByProtocol nvlink_us;
  ByProtocol pci_us;
  ByProtocol net_us;
};

// Returns nullptr if the algorithm is not one of NCCL's.
const NcclLatencies* find_nccl_latencies(CollectiveAlgorithm algorithm);

// Index into ByProtocol; the protocol must not be automatic.
std::size_t protocol_index(Protocol protocol);

}  // namespace windtunnel

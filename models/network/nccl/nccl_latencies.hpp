// NCCL's own latencies by algorithm and protocol, in microseconds: of a collective, and of a step
// over NVLink, PCIe and the network. Its tuner chooses by them
// (models/network/nccl/nccl_tuner.hpp); the law of a machine scales them
// (models/calibration/interconnect_law.hpp).
//
// Source: NCCL 2.28.9 (github.com/NVIDIA/nccl), src/graph/tuning.cc.
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

// nullptr for algorithms that are not NCCL's.
const NcclLatencies* find_nccl_latencies(CollectiveAlgorithm algorithm);

// Into ByProtocol; the protocol is chosen.
std::size_t protocol_index(Protocol protocol);

}  // namespace windtunnel

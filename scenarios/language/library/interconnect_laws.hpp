// The law of a machine's collectives from its specification alone: NCCL's own model, changed by
// what is known of its GPUs' generation and of the transport between its nodes
// (scenarios/library/interconnect_laws.yaml).
#pragma once

#include "models/calibration/interconnect_law.hpp"
#include "models/machine/cluster.hpp"

namespace windtunnel {

InterconnectLaw specified_interconnect_law(const NodeSpec& node, Transport transport);

}  // namespace windtunnel

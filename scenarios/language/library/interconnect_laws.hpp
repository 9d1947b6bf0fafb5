// The law of a machine's collectives from its specification alone: NCCL's own model, changed by
// what is known of its GPUs' generation and of the transport between its nodes
// (scenarios/library/interconnect_laws.yaml).
#pragma once

#include <string>
#include <vector>

#include "models/calibration/interconnect_law.hpp"
#include "models/machine/cluster.hpp"

namespace windtunnel {

InterconnectLaw specified_interconnect_law(const NodeSpec& node, Transport transport);

// Words in the names of machines whose timings told numbers of these laws (but how far points
// scatter): a prediction from specification is not blind to them.
const std::vector<std::string>& machines_in_view();

}  // namespace windtunnel

// The law of a machine's collectives from its specification alone is NCCL's own model, changed by
// what is known of the GPUs' generation and of the transport between nodes
// (scenarios/library/interconnect_laws.yaml).
#pragma once

#include <string>
#include <vector>

#include "models/calibration/calibration.hpp"
#include "models/calibration/interconnect_law.hpp"
#include "models/machine/cluster.hpp"

namespace windtunnel {

InterconnectLaw specified_interconnect_law(const NodeSpec& node, Transport transport);

// Why NCCL's model does not apply to collectives of the node's GPUs over this transport ("NCCL does
// not ..."); empty: it applies. `without` in the same file lists prefixes of the GPUs' names.
std::string why_no_network_law(const NodeSpec& node, Transport transport);

// Sets the law of collectives that holds unless a scenario says otherwise: the calibration's own
// law, or else that of the specification. Constants fitted on the machine take precedence: those of
// NICs over the law of all groups, those of links inside a node over the law of groups within one
// node. Returns why groups across nodes have no law; empty: they have one.
std::string state_network_law(const NodeSpec& node, Transport transport, Calibration& calibration);

// Returns the calibration with one law for all groups, its own or that of the specification, even
// if constants were fitted on the machine. Measured collectives are judged by it.
Calibration with_one_network_law(Calibration calibration, const NodeSpec& node,
                                 Transport transport);

// Timings of machines whose names contain these words were used for numbers of the laws, other than
// the scatter of points. A prediction from specification is not blind to these machines.
const std::vector<std::string>& machines_in_view();

}  // namespace windtunnel

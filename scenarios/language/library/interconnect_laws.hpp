// The law of a machine's collectives from its specification alone: NCCL's own model, changed by
// what is known of its GPUs' generation and of the transport between its nodes
// (scenarios/library/interconnect_laws.yaml).
#pragma once

#include <string>
#include <vector>

#include "models/calibration/calibration.hpp"
#include "models/calibration/interconnect_law.hpp"
#include "models/machine/cluster.hpp"

namespace windtunnel {

InterconnectLaw specified_interconnect_law(const NodeSpec& node, Transport transport);

// Why NCCL's model does not apply to collectives of such GPUs over this transport ("NCCL does not
// ..."); empty: it applies. `without` in the same file lists prefixes of the GPUs' names.
std::string why_no_network_law(const NodeSpec& node, Transport transport);

// Sets the law of collectives that holds unless a scenario says otherwise: the calibration's own
// law, else that of the specification. Fitted constants of the machine stay: those of NICs for all
// groups, those of links inside a node for groups within one. Returns why groups across nodes have
// no law; empty: they have one.
std::string state_network_law(const NodeSpec& node, Transport transport, Calibration& calibration);

// The calibration with one law for all groups, its own or that of the specification, even if
// constants were fitted on the machine. Measured collectives are judged by it.
Calibration with_one_network_law(Calibration calibration, const NodeSpec& node,
                                 Transport transport);

// Words in the names of machines whose timings were used for numbers of these laws, other than the
// scatter of points. A prediction from specification is not blind to these machines.
const std::vector<std::string>& machines_in_view();

}  // namespace windtunnel

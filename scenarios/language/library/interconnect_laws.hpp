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

// Why NCCL's model is none of collectives between such GPUs over this transport ("NCCL does not
// ..."); empty: it is one. Which GPUs: `without` in the same file, by how their names begin.
std::string why_no_network_law(const NodeSpec& node, Transport transport);

// The law that collectives of a machine rest on unless a scenario says otherwise: the
// calibration's own, else that of the specification. Constants that were fitted on the machine
// stay: those of NICs for all groups, those of links inside a node for groups in one. Returns why
// there is no law for groups across nodes; empty: there is one.
std::string state_network_law(const NodeSpec& node, Transport transport, Calibration& calibration);

// The calibration with one law for all groups, its own or else that of the specification: what
// measured collectives are judged by, whatever constants were fitted on the machine.
Calibration with_one_network_law(Calibration calibration, const NodeSpec& node,
                                 Transport transport);

// Words in the names of machines whose timings told numbers of these laws (but how far points
// scatter): a prediction from specification is not blind to them.
const std::vector<std::string>& machines_in_view();

}  // namespace windtunnel

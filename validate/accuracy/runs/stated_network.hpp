// What a row says of its network in words, "4x100Gb/s RoCE per node" or "TCP; delay 5 ms, 2 Gb/s",
// in place of what its node type has; and by which law its collectives are predicted.
#pragma once

#include <string>

#include "models/machine/cluster.hpp"
#include "models/plan/job.hpp"

namespace windtunnel {

// Sets NICs of the node, transport and latency of the fabric, as far as the text states them for a
// node. A delay is that of a message one way. Texts that say less leave the cluster as it is.
void set_stated_network(const std::string& text, Cluster& cluster);

// NCCL's law of the job's GPUs and transport (`communication.law: nccl`), but where constants of
// its calibration were fitted on runs: of links inside a node for groups in one, of NICs for all.
void state_collectives(Job& job);

}  // namespace windtunnel

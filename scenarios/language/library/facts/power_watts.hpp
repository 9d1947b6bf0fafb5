// The library's GPUs and nodes have watts (scenarios/library/power.yaml), each with its origin.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/machine/cluster.hpp"
#include "models/power/power_spec.hpp"

namespace windtunnel {

struct GpuWatts {
  Parameter peak_W;
  Parameter idle_W;
};
// Nothing if the watts of this GPU are not known.
std::optional<GpuWatts> watts_of_gpu(const std::string& gpu);
// These are watts of a node without its GPUs: its own number, or a number per GPU.
Parameter rest_watts_of(const NodeSpec& node);
// The switch for the fabric's transport with the narrowest ports that take a NIC of the cluster, or
// else the widest ports.
NetworkKit network_kit_of(const Cluster& cluster);
// The measured rows that the watts of a node were fitted on.
std::vector<FittedOn> watts_fitted_on();

}  // namespace windtunnel

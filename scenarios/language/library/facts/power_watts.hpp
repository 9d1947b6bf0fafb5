// The library's watts of GPUs and nodes are in scenarios/library/power.yaml, each with its origin.
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
// The watts of a node without its GPUs are its own number, or else a number for each of its GPUs.
Parameter rest_watts_of(const NodeSpec& node);
// Returns the switch of the fabric's transport with the narrowest ports that take a NIC of the
// cluster; if none takes it, the switch with the widest ports.
NetworkKit network_kit_of(const Cluster& cluster);
// The measured rows that the library's watts of nodes were fitted on.
std::vector<FittedOn> watts_fitted_on();

}  // namespace windtunnel

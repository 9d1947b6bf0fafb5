// Watts of the library's GPUs and nodes (scenarios/library/power.yaml), each with its origin.
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
// Nothing where no watts of such a GPU are known.
std::optional<GpuWatts> watts_of_gpu(const std::string& gpu);
// Watts of a node besides its GPUs: its own number, or one for each of its GPUs.
Parameter rest_watts_of(const NodeSpec& node);
// The switch of the fabric's transport whose ports are the narrowest that take a NIC of the
// cluster, or the widest that there is.
NetworkKit network_kit_of(const Cluster& cluster);
// The measured rows by which the watts of a node were fitted.
std::vector<FittedOn> watts_fitted_on();

}  // namespace windtunnel

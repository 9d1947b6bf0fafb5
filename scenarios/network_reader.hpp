// Texts of scenarios/library/networks.yaml to tables of layers.
#pragma once

#include <vector>

#include "models/layer_network.hpp"
#include "scenarios/document.hpp"

namespace windtunnel {

// Throws Error with location: unknown or missing key, a layer that does not fit its input.
std::vector<LayerNetwork> read_networks(const DocumentNode& document);

}  // namespace windtunnel

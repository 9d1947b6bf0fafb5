// Reads tables of layers from scenarios/library/layer_tables.yaml, and from files like its entries.
#pragma once

#include <string>
#include <vector>

#include "models/workload/layer_table.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {

// Throws Error with location: unknown or missing key, a layer that does not fit its input.
std::vector<LayerTable> read_layer_tables(const DocumentNode& document);

// Reads one table from a file of its own; its name is the stem of the path.
LayerTable parse_network_file(const std::string& text, const std::string& path);

}  // namespace windtunnel

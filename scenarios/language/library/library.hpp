// The library that ships inside the program: GPUs, nodes, fabrics, models and calibrations from
// scenarios/library/*.yaml, embedded at build time; every number with its origin.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/calibration/calibration.hpp"
#include "models/machine/cluster.hpp"
#include "models/workload/layer_table.hpp"
#include "models/workload/transformer.hpp"

namespace windtunnel {

const std::vector<GpuSpec>& library_gpus();
const std::vector<NodeSpec>& library_nodes();
const std::vector<TransformerSpec>& library_models();
const std::vector<LayerTable>& library_networks();
const std::vector<Calibration>& library_calibrations();
struct NamedFabric {
  std::string name;
  FabricSpec fabric;
  Origin origin = Origin::assumed;  // of the topology; the hop latency has an origin of its own
  std::string source;
};
const std::vector<NamedFabric>& library_fabrics();

// Each throws Error with the nearest name.
const GpuSpec& find_gpu(std::string_view name);
const NodeSpec& find_node(std::string_view name);
const TransformerSpec& find_model(std::string_view name);
const NamedFabric& find_fabric(std::string_view name);
const Calibration& find_calibration(std::string_view name);

// Returns a calibration of the library by its name, or reads a file (*.yaml). Throws Error with the
// nearest name, or with file:line:column.
Calibration calibration_of(const std::string& name_or_path);

// The texts under scenarios/library, embedded at build time by scenarios/embed.cmake.

struct LibraryFile {
  std::string_view path;  // "nodes.yaml", "repairs/infinitehbd.csv"
  std::string_view text;
};

const std::vector<LibraryFile>& library_files();

}  // namespace windtunnel

#include "scenarios/network_laws.hpp"

#include <array>
#include <string>

#include "models/base/error.hpp"
#include "scenarios/library_reader.hpp"
#include "scenarios/spec_fields.hpp"
#include "traces/text.hpp"

namespace windtunnel {
namespace {

struct Generation {
  std::string_view part;  // of the GPU's name
  std::string_view layer;
};

// Layer nccl is of Ampere and Hopper.
constexpr std::array kGenerations = {Generation{"v100", "volta"}, Generation{"b200", "blackwell"},
                                     Generation{"b300", "blackwell"}};

}  // namespace

NetworkLaw specified_network_law(const NodeSpec& node, Transport transport) {
  static const DocumentNode layers = library_document("network_laws.yaml");
  NetworkLaw law;
  const auto add = [&](std::string_view name) {
    const DocumentNode* layer = layers.value_of(std::string(name));
    CHECK(layer != nullptr, "network_laws.yaml has no layer {}", name);
    read_law_layer(*layer, law);
  };
  add("nccl");
  for (const Generation& generation : kGenerations) {
    if (contains_text(node.gpu.name, generation.part)) add(generation.layer);
  }
  if (node.gpu_path == GpuPath::pcie) add("pcie");
  // Layer nccl is of InfiniBand.
  if (transport != Transport::infiniband) add(name_of(transport));
  return law;
}

}  // namespace windtunnel

#include "scenarios/network_laws.hpp"

#include <array>
#include <string>

#include "models/base/error.hpp"
#include "scenarios/library_reader.hpp"

namespace windtunnel {
namespace {

struct Generation {
  std::string_view part;  // of the GPU's name, longest first where one holds another
  std::string_view layer;
};

constexpr std::array<Generation, 8> kGenerations = {{{"v100", "volta"},
                                                     {"a100", "ampere"},
                                                     {"h100", "hopper"},
                                                     {"h200", "hopper"},
                                                     {"h20", "hopper"},
                                                     {"b200", "blackwell"},
                                                     {"b300", "blackwell"},
                                                     {"gb10", "blackwell"}}};

std::string_view transport_layer(Transport transport) {
  switch (transport) {
    case Transport::infiniband:
      return "infiniband";
    case Transport::roce:
      return "roce";
    case Transport::slingshot:
      return "slingshot";
    case Transport::efa:
      return "efa";
    case Transport::tcpx:
      return "tcpx";
    case Transport::tcpxo:
      return "tcpxo";
    case Transport::tcp:
      return "tcp";
  }
  return "infiniband";
}

}  // namespace

NetworkLaw specified_network_law(const NodeSpec& node, Transport transport) {
  static const DocumentNode layers = library_document("network_laws.yaml");
  NetworkLaw law;
  const auto add = [&](std::string_view name) {
    const DocumentNode* layer = layers.value_of(std::string(name));
    if (layer != nullptr) read_law_layer(*layer, law);
  };
  add("nccl");
  CHECK(law.stated, "network_laws.yaml has no layer nccl");
  for (const Generation& generation : kGenerations) {
    if (node.gpu.name.find(generation.part) != std::string::npos) add(generation.layer);
  }
  if (node.gpu_path == GpuPath::pcie) add("pcie");
  add(transport_layer(transport));
  return law;
}

}  // namespace windtunnel

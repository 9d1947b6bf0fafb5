#include "scenarios/language/library/interconnect_laws.hpp"

#include <algorithm>
#include <string>

#include "models/base/error.hpp"
#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/library/spec_fields.hpp"

namespace windtunnel {
namespace {

const DocumentNode& law_layers() {
  static const DocumentNode layers = library_document("interconnect_laws.yaml");
  return layers;
}

}  // namespace

InterconnectLaw specified_interconnect_law(const NodeSpec& node, Transport transport) {
  CHECK(transport != Transport::ici, "NCCL's law of links that it does not run over");
  InterconnectLaw law;
  const auto add = [&](std::string_view name) {
    const DocumentNode* layer = law_layers().value_of(std::string(name));
    CHECK(layer != nullptr, "interconnect_laws.yaml has no layer {}", name);
    read_law_layer(*layer, law);
  };
  add("nccl");
  // What the host holds back is bytes per second, of NICs of 200 Gb/s (TCP) and 100 Gb/s (volta): a
  // slower NIC does not feel it.
  const auto add_of_host = [&](std::string_view name, double nic_Bps) {
    const double share = law.net_share.value;
    add(name);
    law.net_share.value = std::min(share, law.net_share.value * nic_Bps / node.nic_Bps.value);
    law.net_share.low = std::min(law.net_share.low, law.net_share.value);
    law.net_share.high = std::max(law.net_share.high, law.net_share.value);
  };
  // Layer nccl is of InfiniBand.
  if (transport == Transport::tcp) {
    add_of_host("tcp", 25e9);
  } else if (transport != Transport::infiniband) {
    add(name_of(transport));
  }
  // Layer nccl is of Hopper. What a node holds back, no transport makes up for.
  if (node.gpu.generation == GpuGeneration::volta && transport != Transport::tcp) {
    add_of_host("volta", 12.5e9);
  }
  if (node.gpu.name.starts_with("a100")) add("a100");
  if (node.gpu.name.starts_with("mi")) add("rccl");
  if (node.gpu.generation == GpuGeneration::blackwell) add("blackwell");
  if (node.gpu_path == GpuPath::pcie) add("pcie");
  return law;
}

const std::vector<std::string>& machines_in_view() {
  static const std::vector<std::string> machines = [] {
    std::vector<std::string> words;
    for (const DocumentNode& item : require(law_layers(), "in_view").items) {
      words.push_back(item.text);
    }
    return words;
  }();
  return machines;
}

}  // namespace windtunnel

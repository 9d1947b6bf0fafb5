#include "scenarios/language/library/interconnect_laws.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "models/base/error.hpp"
#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/text/choices.hpp"

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
  // In these layers the host limits bytes per second. They state the limit as a share of NICs of
  // 200 Gb/s (TCP) and 100 Gb/s (volta), so slower NICs reach a larger share.
  const auto add_of_host = [&](std::string_view name, double nic_Bps) {
    const double share = law.net_share.value;
    add(name);
    law.net_share.value = std::min(share, law.net_share.value * nic_Bps / node.nic_Bps.value);
    law.net_share.low = std::min(law.net_share.low, law.net_share.value);
    law.net_share.high = std::max(law.net_share.high, law.net_share.value);
  };
  // Layer "nccl" holds for InfiniBand; other transports add a layer.
  if (transport == Transport::tcp) {
    add_of_host("tcp", 25e9);
  } else if (transport != Transport::infiniband) {
    add(name_of(transport));
  }
  // Layer "nccl" holds for Hopper; other GPUs add a layer. Limits inside a node hold for any
  // transport.
  if (node.gpu.generation == GpuGeneration::volta && transport != Transport::tcp) {
    add("volta");
    if (node.nics == 1 && node.gpus > 4) add_of_host("volta_far_nics", 12.5e9);
  }
  if (node.gpu.name.starts_with("a100")) add("a100");
  if (node.gpu.name.starts_with("mi")) add("rccl");
  if (node.gpu.generation == GpuGeneration::blackwell) add("blackwell");
  if (node.gpu_path == GpuPath::pcie) {
    const Parameter share = law.node_share;
    add("pcie");
    // The layer's share of a port comes from the host bridge, so it does not apply if the node
    // states the bridge's own speed.
    if (node.host_bridge_Bps.value > 0) law.node_share = share;
  }
  const auto bound = [](const Parameter& by, Parameter& share) {
    if (share.value > by.value) share = by;
  };
  bound(law.node_share, law.one_sided_node);
  bound(law.net_share, law.one_sided_net);
  return law;
}

std::string why_no_network_law(const NodeSpec& node, Transport transport) {
  if (transport == Transport::ici) {
    return "NCCL does not run over transport ici, the links of TPUs";
  }
  for (const DocumentEntry& entry : require(law_layers(), "without").entries) {
    if (node.gpu.name.starts_with(entry.key)) return entry.value.text;
  }
  return "";
}

std::string state_network_law(const NodeSpec& node, Transport transport, Calibration& calibration) {
  if (calibration.network.stated) return "";
  if (!calibration.nic_latency_s.fitted_on.empty()) {
    return fmt::format("the constants of the calibration {} were fitted on this network",
                       calibration.name);
  }
  std::string why_not = why_no_network_law(node, transport);
  if (!why_not.empty()) return why_not;
  calibration.network = specified_interconnect_law(node, transport);
  if (!calibration.node_network && !calibration.nvlink_latency_s.fitted_on.empty()) {
    calibration.node_network.emplace();
  }
  return "";
}

Calibration with_one_network_law(Calibration calibration, const NodeSpec& node,
                                 Transport transport) {
  calibration.node_network.reset();
  InterconnectLaw& law = calibration.network;
  if (!law.stated) law = specified_interconnect_law(node, transport);
  return calibration;
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

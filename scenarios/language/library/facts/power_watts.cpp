#include "scenarios/language/library/facts/power_watts.hpp"

#include <algorithm>

#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/text/choices.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {
namespace {

const DocumentNode& watts_document() {
  static const DocumentNode document = library_document("power.yaml");
  return document;
}

Parameter read_watts(const DocumentNode& node, const std::string& key) {
  return read_number(node, Dimension::number, key);
}

}  // namespace

std::optional<GpuWatts> watts_of_gpu(const std::string& gpu) {
  const DocumentNode* entry = require(watts_document(), "gpus").value_of(gpu);
  if (entry == nullptr) return std::nullopt;
  return GpuWatts{read_watts(require(*entry, "peak"), gpu),
                  read_watts(require(*entry, "idle"), gpu)};
}

Parameter rest_watts_of(const NodeSpec& node) {
  if (const DocumentNode* own = require(watts_document(), "nodes").value_of(node.name)) {
    return read_watts(*own, node.name);
  }
  Parameter watts = read_watts(require(watts_document(), "rest_per_gpu"), "rest_per_gpu");
  for (double* each : {&watts.value, &watts.low, &watts.high}) *each *= node.gpus;
  return watts;
}

NetworkKit network_kit_of(const Cluster& cluster) {
  NetworkKit best;
  const double nic_Bps = 0.95 * cluster.node.nic_Bps.value;
  for (const DocumentEntry& entry : require(watts_document(), "network").entries) {
    const DocumentNode& of = require(entry.value, "transports");
    const auto is_it = [&](const DocumentNode& item) {
      return value_of<Transport>(item.text) == cluster.fabric.transport;
    };
    if (std::ranges::none_of(of.items, is_it)) continue;
    const auto number = [&](const char* key) {
      return read_watts(require(entry.value, key), entry.key);
    };
    const double port_Bps =
        quantity(require(entry.value, "port"), Dimension::bytes_per_s, entry.key);
    const bool fits = port_Bps >= nic_Bps;
    const bool best_fits = !best.name.empty() && best.port_Bps >= nic_Bps;
    if (!best.name.empty() &&
        (fits ? best_fits && port_Bps >= best.port_Bps : best_fits || port_Bps <= best.port_Bps)) {
      continue;
    }
    best = {entry.key,
            whole(require(entry.value, "ports"), entry.key),
            port_Bps,
            number("switch_watts"),
            number("switch_usd"),
            number("end_watts"),
            number("end_usd")};
  }
  return best;
}

std::vector<FittedOn> watts_fitted_on() {
  return read_fitted_on(require(watts_document(), "fitted_on"));
}

}  // namespace windtunnel

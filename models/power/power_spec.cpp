#include "models/power/power_spec.hpp"

#include <cmath>

#include "models/base/error.hpp"

namespace windtunnel {

std::vector<PowerVariant> power_variants(const PowerSpec& spec) {
  std::vector<PowerVariant> variants;
  const auto add = [&](const auto& set) {
    PowerVariant variant{spec, spec};
    set(variant.low, false);
    set(variant.high, true);
    for (PowerSpec* each : {&variant.low, &variant.high}) {
      for (NodePower& node : each->nodes) {
        // The idle power of a GPU stays below its limit and below the cap.
        double& idle_W = node.gpu_idle_W.value;
        idle_W = std::min(idle_W, 0.95 * node.gpu_W.value);
        if (spec.cap_W > 0) idle_W = std::min(idle_W, 0.95 * spec.cap_W);
      }
    }
    variants.push_back(std::move(variant));
  };
  for (Parameter NodePower::*const of_node :
       {&NodePower::gpu_W, &NodePower::gpu_idle_W, &NodePower::rest_W}) {
    const bool sure = std::ranges::all_of(spec.nodes, [&](const NodePower& node) {
      return (node.*of_node).low == (node.*of_node).high;
    });
    if (sure) continue;
    add([&](PowerSpec& own, bool high) {
      for (NodePower& node : own.nodes) {
        Parameter& watts = node.*of_node;
        watts.value = high ? watts.high : watts.low;
      }
    });
  }
  const auto add_part = [&](Parameter NetworkKit::*part, bool stated) {
    if (stated || (spec.kit.*part).low == (spec.kit.*part).high) return;
    add([&](PowerSpec& own, bool high) {
      Parameter& number = own.kit.*part;
      number.value = high ? number.high : number.low;
    });
  };
  for (const auto part : {&NetworkKit::switch_W, &NetworkKit::end_W}) {
    add_part(part, spec.switch_W.has_value());
  }
  for (const auto part : {&NetworkKit::switch_usd, &NetworkKit::end_usd}) {
    add_part(part, spec.nic_usd.has_value());
  }
  for (const UnsureDefault& one : spec.unsure) {
    add([&](PowerSpec& own, bool high) { own.*one.member = high ? one.high : one.low; });
  }
  return variants;
}

double gpu_watts(const PowerSpec& spec, const NodePower& node, double activity) {
  const double idle_W = node.gpu_idle_W.value;
  const double asked_W = idle_W + (node.gpu_W.value - idle_W) * activity;
  return spec.cap_W > 0 ? std::min(asked_W, spec.cap_W) : asked_W;
}

double activity_of(const PowerSpec& spec, double computing, double communicating) {
  const double both = spec.computing * std::clamp(computing, 0.0, 1.0) +
                      spec.communicating * std::clamp(communicating, 0.0, 1.0);
  return std::min(1.0, both);
}

double clock_under_cap(const PowerSpec& spec, const NodePower& node) {
  if (spec.cap_W <= 0) return 1;
  const double idle_W = node.gpu_idle_W.value;
  const double dynamic_W = (node.gpu_W.value - idle_W) * spec.computing;
  CHECK(spec.cap_W > idle_W, "a cap of {} W at {} W idle", spec.cap_W, idle_W);
  if (spec.cap_W >= idle_W + dynamic_W) return 1;
  return std::pow((spec.cap_W - idle_W) / dynamic_W, 1 / spec.clock_power);
}

}  // namespace windtunnel

#include "models/cost/offload/offload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/base/units.hpp"
#include "models/plan/job.hpp"

namespace windtunnel {

const Offload& offload_of(const Job& job) {
  static const Offload kNone;
  return job.offload ? *job.offload : kNone;
}

std::string to_string(const Offload& offload) {
  std::string text;
  const auto add = [&](MemoryTier tier, const std::string& what) {
    if (tier == MemoryTier::gpu) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", what,
                        tier == MemoryTier::disk ? "on disk" : "in host memory");
  };
  const auto percent = [](double share) { return format_percent(share); };
  add(offload.optimizer, offload.optimizer_share < 1
                             ? percent(offload.optimizer_share) + " of the optimizer"
                             : "optimizer");
  add(offload.gradients, "gradients");
  add(offload.weights, "weights");
  if (offload.layers.empty()) {
    add(offload.activations,
        offload.activation_share < 1
            ? fmt::format("activations of {} of the layers", percent(offload.activation_share))
            : "activations");
    return text;
  }
  const auto count = [&](ActivationRule rule) { return std::ranges::count(offload.layers, rule); };
  add(offload.activations, fmt::format("activations of {} layers", count(ActivationRule::swap)));
  const auto again = count(ActivationRule::recompute);
  if (again > 0) {
    text += fmt::format("{}{} layers computed again", text.empty() ? "" : ", ", again);
  }
  return text;
}

int offloaded_layers(const Offload& offload, int layers) {
  if (offload.activations == MemoryTier::gpu) return 0;
  return static_cast<int>(std::lround(offload.activation_share * layers));
}

}  // namespace windtunnel

#include "models/cost/offload/offload.hpp"

#include <fmt/format.h>

#include <algorithm>

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
  if (offload.in_chunks()) {
    const Offload::Chunks& chunks = offload.chunks;
    text = fmt::format("chunks of {} ({}; {} of them with the optimizer on the GPU)",
                       format_memory(chunks.bytes), chunks.count, chunks.with_optimizer);
    add(offload.activations, "activations");
    return text;
  }
  add(offload.optimizer, offload.optimizer_share < 1
                             ? percent(offload.optimizer_share) + " of the optimizer"
                             : "optimizer");
  add(offload.gradients, "gradients");
  add(offload.weights, "weights");
  if (offload.layers.empty()) {
    add(offload.activations,
        offload.activation_share < 1
            ? fmt::format("activations of {} of {}", percent(offload.activation_share),
                          offload.hidden ? "each layer" : "the layers")
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

std::vector<double> offloaded_shares(const Offload& offload, int layers) {
  std::vector<double> shares(layers, 0);
  if (offload.activations == MemoryTier::gpu) return shares;
  if (offload.hidden) {
    for (int layer = 0; layer + 1 < layers; ++layer) shares[layer] = offload.activation_share;
    return shares;
  }
  // A search sets activation_share to a number of layers; its rounding error must not add a layer.
  constexpr double kRounding = 1e-9;
  double left = offload.activation_share * layers;
  for (double& share : shares) {
    share = left > kRounding ? std::min(left, 1.0) : 0;
    left -= share;
  }
  return shares;
}

}  // namespace windtunnel

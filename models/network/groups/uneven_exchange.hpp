// All-to-alls whose members do not all get the same: what tokens bring to experts of unequal
// popularity (models/workload/expert_routing.hpp), and routers that prefer experts of their node
// (LocMoE's locality). Every member sends as much, spread over the others in the same way; on the
// way back each returns what it got.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/machine/cluster.hpp"

namespace windtunnel {

struct UnevenExchange {
  // [member of the group] what it gets over the mean of all; empty: all get as much.
  std::vector<double> received = {};
  // Share of what a member sends that stays in its node; nothing: what falls there by chance.
  std::optional<double> locality = {};
  bool operator==(const UnevenExchange&) const = default;

  double most() const;  // of `received`
};

// [from * n + to] for members on these GPUs, n of them; `bytes`: what each sends, its own part
// included. `returns`: the way back.
std::vector<double> exchange_bytes(const UnevenExchange& exchange, bool returns, double bytes,
                                   std::span<const std::int32_t> gpus, const Cluster& cluster);

}  // namespace windtunnel

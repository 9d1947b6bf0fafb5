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
#include "models/network/groups/group_shape.hpp"

namespace windtunnel {

struct UnevenExchange {
  // [member of the group] what it gets over the mean of all; empty: all get as much.
  std::vector<double> received = {};
  // Share of what a member sends that stays in its node; nothing: what falls there by chance.
  std::optional<double> locality = {};
  bool operator==(const UnevenExchange&) const = default;

  double most() const;  // of `received`
};

// Even all-to-alls of so many bytes a member that take as long, in closed form: what stays in a
// node on the ports of the fullest member, and what leaves it on the fullest NIC, which others may
// share and even out. Where a locality is stated both go at once; otherwise what leaves is taken
// along by the ports' owners (PXN), so that they carry all of it.
struct ExchangePhase {
  GroupShape shape;
  double bytes = 0;  // 0: it has none
};
struct ExchangePhases {
  ExchangePhase inside;
  ExchangePhase across;
};
// `bytes`: the mean of what the members of a group of this shape send.
ExchangePhases exchange_phases(const UnevenExchange& exchange, const GroupShape& shape,
                               double bytes);

// [from * n + to] for members on these GPUs, n of them; `bytes`: what each sends, its own part
// included. `returns`: the way back.
std::vector<double> exchange_bytes(const UnevenExchange& exchange, bool returns, double bytes,
                                   std::span<const std::int32_t> gpus, const Cluster& cluster);

}  // namespace windtunnel

// All-to-alls in which members receive unequal amounts: tokens for experts of unequal popularity
// (models/workload/expert_routing.hpp), and routers that prefer experts of their own node (LocMoE's
// locality). Every member sends the same amount with the same distribution over the others; on the
// way back each returns what it received.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/machine/cluster.hpp"
#include "models/network/groups/group_shape.hpp"

namespace windtunnel {

struct UnevenExchange {
  // [member of the group] bytes that it receives / the mean; empty: all receive the same.
  std::vector<double> received = {};
  // Share of a member's data that stays in its node; none: as with random destinations.
  std::optional<double> locality = {};
  bool operator==(const UnevenExchange&) const = default;

  double most() const;  // maximum of `received`
};

// Even all-to-alls that in closed form take as long as the uneven one. `inside` has the traffic on
// the ports of the member that receives most, `across` the traffic between nodes on the fullest
// NIC, which several members may share. If the locality is given, both phases run concurrently.
// Otherwise members forward the traffic between nodes over their ports (PXN), so the ports carry
// everything.
struct ExchangePhase {
  GroupShape shape;
  double bytes = 0;  // 0: there is no such phase
};
struct ExchangePhases {
  ExchangePhase inside;
  ExchangePhase across;
};
// `bytes`: mean bytes that a member of a group of this shape sends.
ExchangePhases exchange_phases(const UnevenExchange& exchange, const GroupShape& shape,
                               double bytes);

// Returns the bytes [from * n + to] among n members on these GPUs. Each sends `bytes`, including
// its own part. `returns`: the exchange is the way back.
std::vector<double> exchange_bytes(const UnevenExchange& exchange, bool returns, double bytes,
                                   std::span<const std::int32_t> gpus, const Cluster& cluster);

}  // namespace windtunnel

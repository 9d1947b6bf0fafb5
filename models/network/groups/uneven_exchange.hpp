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
  // [member of the group] received bytes over the mean; empty: all receive the same.
  std::vector<double> received = {};
  // Share of a member's data that stays in its node; none: as by chance.
  std::optional<double> locality = {};
  bool operator==(const UnevenExchange&) const = default;

  double most() const;  // maximum of `received`
};

// Even all-to-alls that take as long as the uneven one, in closed form: traffic inside nodes on the
// ports of the fullest member, and traffic between nodes on the fullest NIC, whose load other
// members may share. With a given locality both phases run concurrently. Otherwise members forward
// the traffic between nodes over their ports (PXN), so the ports carry everything.
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

// Bytes [from * n + to] for n members on these GPUs; `bytes`: sent by each, including its own part.
// `returns`: the way back.
std::vector<double> exchange_bytes(const UnevenExchange& exchange, bool returns, double bytes,
                                   std::span<const std::int32_t> gpus, const Cluster& cluster);

}  // namespace windtunnel

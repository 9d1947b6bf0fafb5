#include "models/network/groups/uneven_exchange.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "models/base/error.hpp"

namespace windtunnel {

double UnevenExchange::most() const {
  return received.empty() ? 1 : std::ranges::max(received);
}

namespace {

// The most that members behind one NIC receive on average; `behind`: members per NIC.
double fullest_nic(const UnevenExchange& exchange, int behind) {
  const std::span<const double> members = exchange.received;
  double most = members.empty() ? 1 : 0;
  for (std::size_t first = 0; first < members.size(); first += behind) {
    const auto some = members.subspan(first, std::min<std::size_t>(behind, members.size() - first));
    const double sum = std::accumulate(some.begin(), some.end(), 0.0);
    most = std::max(most, sum / static_cast<double>(some.size()));
  }
  return most;
}

}  // namespace

ExchangePhases exchange_phases(const UnevenExchange& exchange, const GroupShape& shape,
                               double bytes) {
  ExchangePhases phases{{shape, exchange.most() * bytes}, {shape, 0}};
  if (shape.nodes == 1) return phases;
  const double usual = static_cast<double>(shape.members_per_node) / shape.members;
  const double stays = exchange.locality.value_or(usual);
  phases.inside.shape.members = shape.members_per_node;
  phases.inside.shape.nodes = 1;
  if (exchange.locality) phases.inside.bytes *= stays;
  phases.across.bytes =
      fullest_nic(exchange, shape.members_per_nic) * bytes * (1 - stays) / (1 - usual);
  return phases;
}

std::vector<double> exchange_bytes(const UnevenExchange& exchange, bool returns, double bytes,
                                   std::span<const std::int32_t> gpus, const Cluster& cluster) {
  const std::size_t n = gpus.size();
  CHECK(exchange.received.empty() || exchange.received.size() == n,
        "an exchange of {} members in a group of {}", exchange.received.size(), n);
  const auto weight = [&](std::size_t member) {
    return exchange.received.empty() ? 1.0 : exchange.received[member];
  };
  std::map<int, double> in_node;  // [node] weight of its members
  double all = 0;
  for (std::size_t member = 0; member < n; ++member) {
    in_node[cluster.node_of(gpus[member])] += weight(member);
    all += weight(member);
  }
  std::vector<double> sent(n * n, 0);
  for (std::size_t from = 0; from < n; ++from) {
    const double near = in_node.at(cluster.node_of(gpus[from]));
    const double far = all - near;
    // If no member elsewhere receives anything, all data stays. Without locality the share that
    // stays is that of chance.
    const double stays = far <= 0 ? 1 : near <= 0 ? 0 : exchange.locality.value_or(near / all);
    const double near_share = near > 0 ? stays / near : 0;
    const double far_share = far > 0 ? (1 - stays) / far : 0;
    for (std::size_t to = 0; to < n; ++to) {
      const bool same = cluster.node_of(gpus[from]) == cluster.node_of(gpus[to]);
      const double share = same ? near_share : far_share;
      sent[returns ? to * n + from : from * n + to] = bytes * share * weight(to);
    }
  }
  return sent;
}

}  // namespace windtunnel

#include "policies/analysis/plan_bytes.hpp"

#include <algorithm>
#include <set>

namespace windtunnel {

PlanBytes::PlanBytes(const Plan& plan, const Cluster& cluster, CountedTransfers counted)
    : plan_(plan), cluster_(cluster), of_group_(plan.groups.size()) {
  count_volumes(counted);
}

void PlanBytes::count_volumes(CountedTransfers counted) {
  std::vector<bool> known(plan_.groups.size(), false);
  for (const RankClass& owner : plan_.classes) {
    std::vector<Volume> of_slot(owner.groups.size());
    for (const Task& task : owner.tasks) {
      const bool counts = task.bytes > 0 && (counted == CountedTransfers::all || task.as_flows);
      if (task.kind == TaskKind::collective && counts) add(task, of_slot[task.group_slot]);
    }
    for (std::size_t slot = 0; slot < owner.groups.size(); ++slot) {
      for (const std::int32_t group : owner.groups[slot]) {
        if (known[group]) continue;
        known[group] = true;
        of_group_[group] = of_slot[slot];
      }
    }
  }
}

void PlanBytes::add(const Task& task, Volume& volume) {
  switch (task.collective) {
    case CollectiveKind::all_reduce:
      switch (task.algorithm) {
        case CollectiveAlgorithm::ring:
        case CollectiveAlgorithm::hierarchical:
        case CollectiveAlgorithm::halving_doubling:
        case CollectiveAlgorithm::torus:
          volume.scattered += task.bytes;
          volume.gathered += task.bytes;
          break;
        case CollectiveAlgorithm::nvls:
          volume.by_nvswitch += task.bytes;
          break;
        case CollectiveAlgorithm::hfreduce:
          volume.by_hosts += task.bytes;
          break;
        default:
          volume.summed += task.bytes;
      }
      break;
    case CollectiveKind::reduce_scatter:
      volume.scattered += task.bytes;
      break;
    case CollectiveKind::all_gather:
      volume.gathered += task.bytes;
      break;
    case CollectiveKind::all_to_all:
      if (task.exchange >= 0) {
        volume.uneven[{task.exchange, task.returns}] += task.bytes;
      } else {
        volume.exchanged += task.bytes;
      }
      break;
    case CollectiveKind::send_recv:
      volume.shifted += task.bytes;
      break;
    case CollectiveKind::broadcast:  // bytes depend on the root's position: not counted
    case CollectiveKind::reduce:
    case CollectiveKind::gather:
      break;
  }
}

// Returns the least bytes that any algorithm moves into (and out of) a place, if data can be
// reduced or copied on their way in other places of the same size. A place is a GPU, node or part
// of the fabric with `inside` of the group's `members`.
double PlanBytes::least_bytes(const Volume& volume, double inside, double members,
                              bool inside_node) {
  if (inside == members) return 0;
  const double away = (members - inside) / members;
  double bytes = volume.summed + inside * away * volume.exchanged + volume.shifted +
                 away * (volume.scattered + volume.gathered);
  // A port sends all parts of its buffer to its node's switch, and then one part of the sum.
  bytes += inside_node ? volume.by_nvswitch : 2 * away * volume.by_nvswitch + volume.by_hosts;
  return bytes;
}

bool PlanBytes::pair_within(RankId from, RankId to, Within within) const {
  switch (within) {
    case Within::node:
      return cluster_.node_of(from) == cluster_.node_of(to);
    case Within::network:
      return !cluster_.apart(from, to);
    case Within::machine:
      break;
  }
  return true;
}

bool PlanBytes::lies_within(const Group& group, Within within) const {
  if (within == Within::machine) return true;
  return std::ranges::all_of(
      group.members, [&](RankId rank) { return pair_within(group.members.front(), rank, within); });
}

std::vector<double> PlanBytes::matrix(std::size_t group, std::pair<std::int16_t, bool> which,
                                      double bytes) const {
  return exchange_bytes(plan_.exchanges[which.first], which.second, bytes,
                        plan_.groups[group].members, cluster_);
}

std::vector<BothWays> PlanBytes::across(const std::vector<int>& part_of_rank, int parts,
                                        Within within, bool inside_node) const {
  std::vector<BothWays> bytes(parts);
  const auto add_pair = [&](RankId from, RankId to, double sent) {
    if (part_of_rank[from] == part_of_rank[to] || !pair_within(from, to, within)) return;
    bytes[part_of_rank[from]].out += sent;
    bytes[part_of_rank[to]].in += sent;
  };
  std::vector<int> places;
  for (std::size_t g = 0; g < plan_.groups.size(); ++g) {
    const std::vector<RankId>& members = plan_.groups[g].members;
    for (const auto& [which, of_member] : of_group_[g].uneven) {
      const std::vector<double> sent = matrix(g, which, of_member);
      for (std::size_t i = 0; i < sent.size(); ++i) {
        add_pair(members[i / members.size()], members[i % members.size()], sent[i]);
      }
    }
    if (!lies_within(plan_.groups[g], within)) continue;
    places.clear();
    for (const RankId rank : members) places.push_back(part_of_rank[rank]);
    std::ranges::sort(places);
    for (auto first = places.begin(); first != places.end();) {
      const auto last = std::upper_bound(first, places.end(), *first);
      const double least = least_bytes(of_group_[g], static_cast<double>(last - first),
                                       static_cast<double>(places.size()), inside_node);
      bytes[*first].out += least;
      bytes[*first].in += least;
      first = last;
    }
  }
  for_each_message(add_pair);
  return bytes;
}

void PlanBytes::for_each_message(const Ends& visit) const {
  for (const RankClass& owner : plan_.classes) {
    std::vector<double> of_slot(owner.peers.size());
    for (const Task& task : owner.tasks) {
      if (task.kind == TaskKind::send) of_slot[task.peer_slot] += task.bytes;
    }
    for (std::size_t slot = 0; slot < of_slot.size(); ++slot) {
      if (of_slot[slot] <= 0) continue;
      for (std::size_t i = 0; i < owner.members.size(); ++i) {
        visit(owner.members[i], owner.peers[slot][i], of_slot[slot]);
      }
    }
  }
}

std::map<PlanBytes::NodePair, double> PlanBytes::exchanged_between_nodes(double most_pairs) const {
  std::map<NodePair, double> between;
  const auto add_pair = [&](RankId from, RankId to, double sent) {
    const NodePair nodes = {cluster_.node_of(from), cluster_.node_of(to)};
    if (nodes.first != nodes.second && sent > 0) between[nodes] += sent;
  };
  for (std::size_t g = 0; g < plan_.groups.size(); ++g) {
    const std::vector<RankId>& members = plan_.groups[g].members;
    const Volume& volume = of_group_[g];
    if (volume.exchanged == 0 && volume.uneven.empty()) continue;
    std::set<int> nodes;
    for (const RankId rank : members) nodes.insert(cluster_.node_of(rank));
    most_pairs -= static_cast<double>(nodes.size() * nodes.size());
    if (most_pairs < 0 || !lies_within(plan_.groups[g], Within::network)) continue;
    std::vector<double> sent(members.size() * members.size(),
                             volume.exchanged / static_cast<double>(members.size()));
    for (const auto& [which, of_member] : volume.uneven) {
      const std::vector<double> more = matrix(g, which, of_member);
      for (std::size_t i = 0; i < sent.size(); ++i) sent[i] += more[i];
    }
    for (std::size_t i = 0; i < sent.size(); ++i) {
      add_pair(members[i / members.size()], members[i % members.size()], sent[i]);
    }
  }
  return between;
}

}  // namespace windtunnel

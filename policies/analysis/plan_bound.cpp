#include "policies/analysis/plan_bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/error.hpp"
#include "models/machine/fabrics/link_faults.hpp"
#include "models/machine/links/links.hpp"
#include "models/plan/kernel_pace.hpp"

namespace windtunnel {
namespace {

// Bytes of the collectives of a group, all its tasks together, by what they must move.
struct Volume {
  double scattered = 0;  // every part of a buffer comes to one member: reduce-scatter, and half of
                         // an all-reduce
  double gathered = 0;   // every member gets all parts
  double summed = 0;     // all-reduced by switches or trees: in and out once at least
  double exchanged = 0;  // all-to-all, of one member
  double shifted = 0;    // to the next member
  // Of all-to-alls that are not even: by exchange of the Plan and direction.
  std::map<std::pair<std::int16_t, bool>, double> uneven = {};
};

bool moves_twice(CollectiveAlgorithm algorithm) {
  switch (algorithm) {
    case CollectiveAlgorithm::ring:
    case CollectiveAlgorithm::hierarchical:
    case CollectiveAlgorithm::nvls:
    case CollectiveAlgorithm::halving_doubling:
      return true;
    default:
      return false;
  }
}

void add(const Task& task, Volume& volume) {
  switch (task.collective) {
    case CollectiveKind::all_reduce:
      if (moves_twice(task.algorithm)) {
        volume.scattered += task.bytes;
        volume.gathered += task.bytes;
      } else {
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
    case CollectiveKind::broadcast:  // what these ask of a place depends on where it stands
    case CollectiveKind::reduce:
    case CollectiveKind::gather:
      break;
  }
}

struct BothWays {
  double out = 0;
  double in = 0;
};

// Of a place with `inside` of a group's members: none of the algorithms gets along with less in
// either direction, as what is away is reduced or copied on its way through places of equal size.
double least_bytes(const Volume& volume, double inside, double members) {
  if (inside == members) return 0;
  const double away = (members - inside) / members;
  return volume.summed + inside * away * volume.exchanged + volume.shifted +
         away * (volume.scattered + volume.gathered);
}

// Counts by place: a node, or a pod.
class Places {
 public:
  Places(std::size_t count, std::vector<int> place_of_rank)
      : bytes_(count), of_rank_(std::move(place_of_rank)) {}

  void add_message(RankId from, RankId to, double bytes) {
    if (of_rank_[from] == of_rank_[to]) return;
    bytes_[of_rank_[from]].out += bytes;
    bytes_[of_rank_[to]].in += bytes;
  }

  void add_group(const Group& group, const Volume& volume) {
    std::vector<int> places;
    places.reserve(group.members.size());
    for (const RankId rank : group.members) places.push_back(of_rank_[rank]);
    std::ranges::sort(places);
    for (auto first = places.begin(); first != places.end();) {
      const auto last = std::upper_bound(first, places.end(), *first);
      const double least = least_bytes(volume, static_cast<double>(last - first),
                                       static_cast<double>(places.size()));
      bytes_[*first].out += least;
      bytes_[*first].in += least;
      first = last;
    }
  }

  // `sent`: [from * n + to] of the group's members.
  void add_matrix(const Group& group, const std::vector<double>& sent) {
    const std::size_t n = group.members.size();
    for (std::size_t from = 0; from < n; ++from) {
      for (std::size_t to = 0; to < n; ++to) {
        add_message(group.members[from], group.members[to], sent[from * n + to]);
      }
    }
  }

  const std::vector<BothWays>& bytes() const { return bytes_; }

 private:
  std::vector<BothWays> bytes_;
  std::vector<int> of_rank_;
};

bool counts(const Task& task, CountedTransfers counted) {
  return task.bytes > 0 && (counted == CountedTransfers::all || task.as_flows);
}

// [group] -> what it moves. All members of a group have the same collectives.
std::vector<Volume> volumes(const Plan& plan, CountedTransfers counted) {
  std::vector<Volume> of_group(plan.groups.size());
  std::vector<bool> known(plan.groups.size(), false);
  for (const RankClass& owner : plan.classes) {
    std::vector<Volume> of_slot(owner.groups.size());
    for (const Task& task : owner.tasks) {
      if (task.kind == TaskKind::collective && counts(task, counted)) {
        add(task, of_slot[task.group_slot]);
      }
    }
    for (std::size_t slot = 0; slot < owner.groups.size(); ++slot) {
      for (const std::int32_t group : owner.groups[slot]) {
        if (known[group]) continue;
        known[group] = true;
        of_group[group] = of_slot[slot];
      }
    }
  }
  return of_group;
}

void count(const Plan& plan, const Cluster& cluster, const std::vector<Volume>& of_group,
           Places& places) {
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    places.add_group(plan.groups[g], of_group[g]);
    for (const auto& [which, bytes] : of_group[g].uneven) {
      const auto [exchange, returns] = which;
      places.add_matrix(plan.groups[g], exchange_bytes(plan.exchanges[exchange], returns, bytes,
                                                       plan.groups[g].members, cluster));
    }
  }
  for (const RankClass& owner : plan.classes) {
    std::vector<double> of_slot(owner.peers.size());
    for (const Task& task : owner.tasks) {
      if (task.kind == TaskKind::send) of_slot[task.peer_slot] += task.bytes;
    }
    for (std::size_t slot = 0; slot < of_slot.size(); ++slot) {
      for (std::size_t i = 0; i < owner.members.size(); ++i) {
        places.add_message(owner.members[i], owner.peers[slot][i], of_slot[slot]);
      }
    }
  }
}

// Of all NICs of a node that its GPUs reach.
double capacity_of_node(const LinkTable& links, int node, Resource direction) {
  const int gpus = links.cluster().node.gpus;
  std::set<LinkId> nics;
  std::vector<LinkId> route;
  for (int gpu = node * gpus; gpu < (node + 1) * gpus; ++gpu) {
    route.clear();
    links.append_resource(gpu, direction, route);
    nics.insert(route.begin(), route.end());
  }
  double capacity = 0;
  for (const LinkId nic : nics) capacity += links.capacity(nic);
  // What goes to another network goes beside the NICs.
  const Cluster& cluster = links.cluster();
  return cluster.networks_differ() ? capacity + cluster.common.node_Bps.value : capacity;
}

void consider(double bytes, double capacity, const std::string& link, PlanBound& bound) {
  if (bytes <= 0 || bytes / capacity <= bound.link_s) return;
  bound.link_s = bytes / capacity;
  bound.link = link;
}

void bound_by_nodes(const Plan& plan, const Cluster& cluster, const std::vector<Volume>& of_group,
                    PlanBound& bound) {
  std::vector<int> node_of_rank(plan.ranks);
  for (RankId rank = 0; rank < plan.ranks; ++rank) node_of_rank[rank] = cluster.node_of(rank);
  const int nodes = plan.ranks == 0 ? 0 : node_of_rank.back() + 1;
  Places places(nodes, std::move(node_of_rank));
  count(plan, cluster, of_group, places);
  const LinkTable links = LinkTable::keeping_reference(cluster);
  const bool uneven = has_uneven_nics(cluster) || !cluster.degraded_nics.empty();
  BothWays capacity;
  for (int node = 0; node < nodes; ++node) {
    if (uneven || node == 0) {
      capacity = {capacity_of_node(links, node, Resource::nic_out),
                  capacity_of_node(links, node, Resource::nic_in)};
    }
    const BothWays& bytes = places.bytes()[node];
    const std::string name = fmt::format("NICs of node {}", node);
    consider(bytes.out, capacity.out, name, bound);
    consider(bytes.in, capacity.in, name, bound);
  }
}

// Of what joins a pod, or a group, with all others; a common network joins them besides.
void bound_by_joints(std::vector<int> place_of_rank, const std::vector<BothWays>& capacity,
                     std::string_view name, const Plan& plan, const Cluster& cluster,
                     const std::vector<Volume>& of_group, PlanBound& bound) {
  if (capacity.size() < 2 || cluster.networks_differ()) return;
  Places places(capacity.size(), std::move(place_of_rank));
  count(plan, cluster, of_group, places);
  for (std::size_t place = 0; place < capacity.size(); ++place) {
    const BothWays& bytes = places.bytes()[place];
    const std::string joint = fmt::format("{} {}", name, place);
    consider(bytes.out, capacity[place].out, joint, bound);
    consider(bytes.in, capacity[place].in, joint, bound);
  }
}

// The uplinks of a tree's pods have this share of the bandwidth of the NICs below them.
void bound_by_pods(const Plan& plan, const Cluster& cluster, const std::vector<Volume>& of_group,
                   PlanBound& bound) {
  const FabricSpec& fabric = cluster.fabric;
  const bool tree =
      fabric.topology == Topology::fat_tree || fabric.topology == Topology::rail_fat_tree;
  if (!tree || fabric.nodes_per_pod == 0) return;
  std::vector<int> pod_of_rank(plan.ranks);
  for (RankId rank = 0; rank < plan.ranks; ++rank) pod_of_rank[rank] = pod_of(cluster, rank);
  const double whole_Bps =
      cluster.widest_node() * fabric.nodes_per_pod / fabric.pod_oversubscription;
  const int rails = fabric.topology == Topology::rail_fat_tree ? cluster.nics_per_node() : 1;
  const auto left_Bps = [&](const char* direction, int pod) {
    double left = 0;
    for (int rail = 0; rail < rails; ++rail) {
      const std::string bundle = fmt::format("{} {}", direction, pod);
      left += background_left(fabric, rails > 1 ? fmt::format("{} rail {}", bundle, rail) : bundle);
    }
    return whole_Bps * left / rails;
  };
  std::vector<BothWays> capacity;
  for (int pod = 0; pod < pods_of(cluster); ++pod) {
    capacity.push_back({left_Bps("pod-up", pod), left_Bps("pod-down", pod)});
  }
  bound_by_joints(std::move(pod_of_rank), capacity, "uplinks of pod", plan, cluster, of_group,
                  bound);
}

// What leaves a group of a dragonfly takes one of its bundles, whatever the way behind it.
void bound_by_groups(const Plan& plan, const Cluster& cluster, const std::vector<Volume>& of_group,
                     PlanBound& bound) {
  const FabricSpec& fabric = cluster.fabric;
  if (fabric.topology != Topology::dragonfly) return;
  const int nodes_per_group = fabric.nodes_per_router * fabric.routers_per_group;
  const int groups = (cluster.fabric_nodes() - 1) / nodes_per_group + 1;
  std::vector<int> group_of_rank(plan.ranks);
  for (RankId rank = 0; rank < plan.ranks; ++rank) {
    group_of_rank[rank] = cluster.place_of(cluster.node_of(rank)) / nodes_per_group;
  }
  std::vector<BothWays> capacity(groups);
  for (int from = 0; from < groups; ++from) {
    for (int to = 0; to < groups; ++to) {
      if (from == to) continue;
      const double bundle_Bps = fabric.global_Bps.value *
                                background_left(fabric, fmt::format("global {} to {}", from, to));
      capacity[from].out += bundle_Bps;
      capacity[to].in += bundle_Bps;
    }
  }
  bound_by_joints(std::move(group_of_rank), capacity, "bundles of group", plan, cluster, of_group,
                  bound);
}

// Of the kernels of one rank, which run one after another.
double kernels_s(const RankClass& owner, std::span<const double> slowdowns,
                 const KernelPace& pace) {
  double seconds = 0;
  for (TaskIndex t = 0; t < std::ssize(owner.tasks); ++t) {
    const Task& task = owner.tasks[t];
    if (task.kind != TaskKind::compute) continue;
    seconds += plain_seconds(task, slowdowns[pace.place(t, task.iteration)]);
  }
  return seconds;
}

// Of each class its slowest node, and with jitter its first rank: to draw for all takes long.
double busiest_kernels_s(const Plan& plan, const Cluster& cluster) {
  KernelPace pace(plan, cluster);
  double busiest_s = 0;
  for (const RankClass& owner : plan.classes) {
    const auto slowest = cluster.jitter.active()
                             ? owner.members.begin()
                             : std::ranges::max_element(owner.members, {}, [&](RankId rank) {
                                 return cluster.slowdown_of(rank);
                               });
    if (slowest == owner.members.end()) continue;
    busiest_s = std::max(busiest_s, kernels_s(owner, pace.slowdowns(*slowest), pace));
  }
  return busiest_s;
}

}  // namespace

PlanBound plan_bound(const Plan& plan, const Cluster& cluster, CountedTransfers counted) {
  PlanBound bound;
  const std::vector<Volume> of_group = volumes(plan, counted);
  bound_by_nodes(plan, cluster, of_group, bound);
  bound_by_pods(plan, cluster, of_group, bound);
  bound_by_groups(plan, cluster, of_group, bound);
  bound.compute_s = busiest_kernels_s(plan, cluster);
  return bound;
}

void check_bound(const Plan& plan, const Cluster& cluster, const Timeline& timeline) {
  // A sample of the ranks may be off, either way.
  const double rounding = timeline.sampled_of > 0 ? 0.3 : 1e-6;
  const PlanBound bound = plan_bound(plan, cluster, CountedTransfers::as_flows);
  CHECK(timeline.makespan_s >= bound.seconds() * (1 - rounding),
        "simulated in {} s, but kernels take {} s and the bytes of {} take {} s",
        timeline.makespan_s, bound.compute_s, bound.link.empty() ? "no link" : bound.link,
        bound.link_s);
}

}  // namespace windtunnel

#include "policies/exchange/replica_groups.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <span>

#include "models/base/error.hpp"
#include "models/compression/compressors.hpp"
#include "models/machine/fabrics/tree.hpp"
#include "models/machine/links/links.hpp"
#include "models/network/groups/fabric_load.hpp"
#include "models/network/groups/group_shapes.hpp"

namespace windtunnel {
namespace {

StridedGroups strided(int members, int stride, int count) {
  return {stride, count, stride, members / (stride * count)};
}

// Whether the groups are like the first one on other whole nodes, except for the NICs. Then one
// lane per node represents all lanes.
bool regular(const StridedGroups& groups, int first, const Cluster& cluster) {
  const int gpus = cluster.node.gpus;
  const int nics = cluster.node.nics;
  const int span = groups.stride * groups.count;
  if (!cluster.in_order() || !is_even_tree(cluster.fabric)) return false;
  if (first % gpus != 0 || nics < 1 || gpus % nics != 0) return false;
  if (groups.stride % gpus == 0) return groups.lanes % gpus == 0;
  return gpus % groups.stride == 0 && groups.lanes == groups.stride &&
         (span % gpus == 0 || gpus % span == 0);
}

// Returns the bandwidth of the slowest NIC among these ranks' nodes, relative to a NIC of the pool.
// If ranks are out of order, only the ranks' own NICs count.
double slowest_nic(const Cluster& cluster, int first, int last, int pool = -1) {
  if (has_uneven_nics(cluster) || !cluster.in_order()) {
    if (cluster.ranks.in_order()) {  // extended to whole nodes
      first -= cluster.slot_of(first);
      last += cluster.run_of(last) - 1;
    }
    double factor = std::numeric_limits<double>::infinity();  // a site's NICs may be faster
    for (int gpu = first; gpu <= last; ++gpu) {
      factor = std::min(factor, nic_share(cluster, gpu, cluster.node_of_pool(pool)));
    }
    return cluster.node.nics > 0 ? factor : 1;
  }
  const int nics = cluster.node.nics;
  const int first_node = cluster.node_of(first);
  const int last_node = cluster.node_of(last);
  double factor = 1;
  for (const DegradedNic& degraded : cluster.degraded_nics) {
    if (degraded.node < first_node || degraded.node > last_node) continue;
    factor = std::min(factor, nic_factor(cluster, degraded.node * nics + degraded.nic));
  }
  return factor;
}

GroupShape worst_of_all(const StridedGroups& groups, int first, const Cluster& cluster) {
  WorstShape worst(cluster);
  for (int group = 0; group < groups.size(); ++group) worst.add(groups.members(first, group));
  return worst.shape();
}

// Returns the ports of the first node, which the groups that start there use.
NodePorts first_node_ports(const StridedGroups& groups, int first, int per_node,
                           const Cluster& cluster) {
  NodePorts ports;
  for (int group = 0; group < groups.size() && cluster.node.package_gpus > 1; ++group) {
    const std::vector<std::int32_t> members = groups.members(first, group);
    if (cluster.node_of(members.front()) != cluster.node_of(first)) break;
    ports = worse(ports, node_ports(std::span(members).first(per_node), 0, cluster));
  }
  return ports;
}

// Returns how many members of a group are in one node; 1 unless all groups lie on nodes in the same
// way. Stages must start where nodes start, or no group may cross nodes.
int members_in_node(const StridedGroups& group, int gpus) {
  const int span = group.stride * group.count;
  if (gpus % span == 0) return group.count;
  return gpus % group.stride == 0 && span % gpus == 0 ? gpus / group.stride : 1;
}

// Returns how many nodes from this one on have the same paths to others.
int nodes_alike(const LinkTable& links, int node) {
  const Cluster& cluster = links.cluster();
  if (!cluster.in_order() || cluster.nodes == 1 || !is_tree(cluster.fabric.topology)) return 1;
  return static_cast<const TreeLinks&>(links.fabric()).nodes_alike(node);
}

}  // namespace

std::vector<std::int32_t> StridedGroups::members(int first, int group) const {
  std::vector<std::int32_t> ranks(count);
  for (int i = 0; i < count; ++i) ranks[i] = first + start_of(group) + i * stride;
  return ranks;
}

StridedGroups replica_groups(const Layout& layout, ReplicaAxis axis, int gpus_per_node) {
  const int members = layout.tp * layout.cp * layout.dp;
  const int replicas = layout.island_replicas();
  const int island = layout.tp * replicas;  // consecutive ranks
  const ShardRanks shards = shard_ranks(layout);
  const int shard = shards.optimizer;
  const int region = layout.tp * shard;  // consecutive ranks that hold one copy of the stage
  const int dense = layout.sharding == Sharding::none ? replicas : shard;
  // An ep group that is larger than the region leaves only one copy of an expert inside it.
  const int of_region = region % layout.ep == 0 ? region / layout.ep : 1;
  const int experts = layout.expert_shard_ranks > 0 ? layout.expert_shard_ranks : of_region;
  const int in_node = members_in_node({layout.tp, dense}, gpus_per_node);
  const auto part = [&](int ranks) { return strided(members, layout.tp, ranks); };
  const auto peers = [&](int group, int ranks) {
    return strided(members, layout.tp * ranks, group / ranks);
  };
  const auto level = [&](std::size_t at) {
    const std::vector<int>& groups = layout.sync_groups;
    int unit = island;
    for (std::size_t below = 0; below < std::min(at, groups.size()); ++below) unit *= groups[below];
    return strided(members, unit, at < groups.size() ? groups[at] : 1);
  };
  switch (axis) {
    case ReplicaAxis::dense_shard:
      return part(shard);
    case ReplicaAxis::dense_across:
      return strided(members, region, replicas / shard);
    case ReplicaAxis::expert_shard:
      return strided(members, layout.ep, experts);
    case ReplicaAxis::expert_across:
      return strided(members, layout.ep * experts, island / (layout.ep * experts));
    case ReplicaAxis::node_part:
      return part(in_node);
    case ReplicaAxis::node_peers:
      return peers(dense, in_node);
    case ReplicaAxis::weight_part:
      return part(shards.weights);
    case ReplicaAxis::weight_peers:
      return peers(shard, shards.weights);
    case ReplicaAxis::gradient_part:
      return part(shards.gradients);
    case ReplicaAxis::gradient_peers:
      return peers(shard, shards.gradients);
    case ReplicaAxis::secondary_part:
      return part(std::max(1, layout.secondary_ranks));
    case ReplicaAxis::island_peers:
      return level(0);
    case ReplicaAxis::region_peers:
      return level(1);
    case ReplicaAxis::path_near:
      return strided(members, island, layout.path_modules.empty() ? 1 : layout.path_modules[1]);
    case ReplicaAxis::dense_replicas:
      return part(replicas);
    case ReplicaAxis::expert_replicas:
      return strided(members, layout.ep, island / layout.ep);
    case ReplicaAxis::path_far:
      if (layout.path_modules.empty()) return strided(members, island, 1);
      return strided(members, island * layout.path_modules[1], layout.path_modules[0]);
  }
  return {};
}

namespace {

// Returns the number of nodes in every site; 0: sites differ.
int nodes_per_site(const FabricSpec& fabric) {
  if (fabric.topology != Topology::sites || fabric.sites.empty()) return 0;
  const int nodes = fabric.sites.front().nodes;
  const bool equal =
      std::ranges::all_of(fabric.sites, [&](const SiteSpec& site) { return site.nodes == nodes; });
  return equal ? nodes : 0;
}

}  // namespace

bool has_shard_copies(const Layout& layout) {
  return shard_ranks(layout).optimizer < layout.island_replicas();
}

bool is_unscattered(const Job& job) {
  const CompressorChoice& choice = job.communication.compressors.dp;
  if (job.communication.robust) return true;
  if (!compresses(choice)) return false;
  const CompressorKind& kind = compressor_kind(choice);
  return !kind.summable || kind.whole_tensors;
}

bool compresses_across(const Job& job) {
  const CompressorChoice& choice = job.communication.compressors.dp;
  if (!compresses(choice) || choice.hop == CompressedHop::all) return false;
  if (choice.hop == CompressedHop::across) return true;
  // A collective that runs in one piece is divided only if the job says so.
  const Communication& communication = job.communication;
  if (communication.overlap == GradientOverlap::dear ||
      communication.overlap == GradientOverlap::priority ||
      communication.aggregation == Aggregation::parameter_server) {
    return false;
  }
  if (job.layout.sharding != Sharding::none) {
    return is_unscattered(job) && has_shard_copies(job.layout);
  }
  return job.model.moe_layers() == 0 && nodes_per_site(job.cluster.fabric) > 0;
}

int gpus_per_place(const Job& job) {
  const Cluster& cluster = job.cluster;
  const int site = compresses_across(job) ? nodes_per_site(cluster.fabric) : 0;
  const int nodes = site > 0 ? site : 1;
  if (cluster.ranks.in_order()) return nodes * cluster.node.gpus;
  int together = job.layout.ranks();
  for (int rank = 1; rank < job.layout.ranks(); ++rank) {
    if (cluster.node_of(rank) / nodes == cluster.node_of(rank - 1) / nodes) continue;
    together = std::gcd(together, rank);
  }
  return together;
}

StridedGroups stage_pairs(const Layout& layout, int low, int high) {
  const int members = layout.ranks() / layout.pp;
  return {(high - low) * members, 2, members, 1};
}

StridedGroups state_copies(const Layout& layout) {
  const int members = layout.tp * layout.cp * layout.dp;
  const int island = layout.tp * layout.island_replicas();
  const int stride = std::lcm(replica_groups(layout, ReplicaAxis::dense_across).stride,
                              replica_groups(layout, ReplicaAxis::expert_across).stride);
  return strided(members, stride, island / stride);
}

GroupShape StridedShapes::worst(const StridedGroups& groups, int first) {
  if (groups.count == 1) return {};
  const Cluster& cluster = links_.cluster();
  const GroupShape worst = regular(groups, first, cluster) ? worst_of_regular(groups, first)
                                                           : worst_of_all(groups, first, cluster);
  return sharing_cables(groups, first, among_concurrent(worst, cluster));
}

// Adds the other groups that cross the cables between sites at the same time.
GroupShape StridedShapes::sharing_cables(const StridedGroups& groups, int first,
                                         GroupShape shape) const {
  const Cluster& cluster = links_.cluster();
  const bool alike = groups.count % shape.members_per_node == 0 && !shape.load.by_rail;
  if (cluster.fabric.topology != Topology::sites || shape.nodes == 1 || !alike) return shape;
  Lanes all;
  all.lanes = groups.size() * shape.members_per_node;
  for (int from = 0; from < groups.count; from += shape.members_per_node) {  // node by node
    for (int group = 0; group < groups.size(); ++group) {
      std::vector<std::int32_t> members = groups.members(first, group);
      std::ranges::stable_sort(members, {}, [&](int rank) { return cluster.node_of(rank); });
      const auto own = members.begin() + from;
      all.gpus.insert(all.gpus.end(), own, own + shape.members_per_node);
    }
  }
  const FabricLoad together = routed_fabric_load(all, links_);
  for (const auto field : kFabricLoads) {
    shape.load.*field = std::max(shape.load.*field, together.*field / shape.concurrent_per_node);
  }
  return shape;
}

// Groups are alike if they are all under one switch (position -1), or start at the same position in
// a pod and do not reach the last pod, which may be smaller.
GroupShape StridedShapes::one_gpu_per_node(int node, int nodes, int node_step) {
  const Cluster& cluster = links_.cluster();
  const int gpus = cluster.node.gpus;
  const int pod_nodes = nodes_of_pod(cluster, 0);
  const int end_node = node + (nodes - 1) * node_step;
  const bool one_switch = links_.switch_hops(node * gpus, end_node * gpus) == 1;
  const bool alike = one_switch || end_node / pod_nodes < pods_of(cluster) - 1;
  const std::tuple place(one_switch ? -1 : node % pod_nodes, nodes, node_step);
  if (const auto known = known_.find(place); alike && known != known_.end()) return known->second;
  std::vector<std::int32_t> members(nodes);
  for (int n = 0; n < nodes; ++n) members[n] = (node + n * node_step) * gpus;
  const GroupShape shape = group_shape(members, links_);
  if (alike) known_[place] = shape;
  return shape;
}

// One GPU of every node represents all lanes, because in a tree they use the same levels.
GroupShape StridedShapes::worst_of_regular(const StridedGroups& groups, int first) {
  const Cluster& cluster = links_.cluster();
  const int gpus = cluster.node.gpus;
  const int per_node = groups.stride >= gpus ? 1 : std::min(groups.count, gpus / groups.stride);
  const int gpus_per_nic = gpus / cluster.node.nics;
  const int per_nic = std::min(std::max(1, gpus_per_nic / groups.stride), per_node);
  const int nodes = groups.count / per_node;
  const int node_step = std::max(1, groups.stride / gpus);
  GroupShape worst;
  bool empty = true;
  for (int block = 0; block < groups.blocks; ++block) {
    for (int lane = 0; lane < groups.lanes; lane += gpus) {
      const int node = cluster.node_of(first + block * groups.stride * groups.count + lane);
      const GroupShape shape = one_gpu_per_node(node, nodes, node_step);
      worst = empty ? shape : worse(worst, shape);
      empty = false;
    }
  }
  worst.members = groups.count;
  worst.members_per_node = per_node;
  worst.members_per_nic = per_nic;
  worst.load = scaled(worst.load, worst.load.by_rail ? per_nic : per_node);
  worst.ports = first_node_ports(groups, first, per_node, cluster);
  const int last = groups.start_of(groups.size() - 1) + (groups.count - 1) * groups.stride + first;
  worst.nic_factor = slowest_nic(cluster, first, last);
  if (!cluster.networks_differ()) worst.own_nic_factor = worst.nic_factor;
  return worst;
}

std::vector<std::vector<std::int32_t>> island_ranks(const Layout& layout) {
  const int island = layout.tp * layout.island_replicas();
  const int members = layout.ranks() / layout.pp;
  std::vector<std::vector<std::int32_t>> ranks(layout.islands());
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    ranks[rank % members / island].push_back(rank);
  }
  return ranks;
}

GroupShape world_shape(const Layout& layout, const LinkTable& links) {
  const Cluster& cluster = links.cluster();
  if (layout.islands() > 1) {
    GroupShape shape = group_shape(island_ranks(layout).front(), links);
    shape.load = {};
    return shape;
  }
  const NodeSpec& node = cluster.node;
  Lanes lanes;
  for (int n = 0; n < cluster.nodes; n += nodes_alike(links, n)) {
    lanes.gpus.push_back(cluster.rank_on(n, 0));
  }
  const LongestWay way = longest_way(lanes, links);
  GroupShape shape;
  shape.members = cluster.gpus();
  shape.members_per_node = node.gpus;
  shape.nodes = cluster.nodes;
  shape.fabric_hops = way.hops;
  shape.extra_latency_s = way.extra_latency_s;
  shape.members_per_nic = (node.gpus + std::max(1, node.nics) - 1) / std::max(1, node.nics);
  shape.nic_factor = slowest_nic(cluster, 0, cluster.gpus() - 1);
  std::vector<std::int32_t> members(node.gpus);
  for (int slot = 0; slot < node.gpus; ++slot) members[slot] = cluster.rank_on(0, slot);
  shape.ports = node_ports(members, 0, cluster);
  return shape;
}

namespace {

// Returns the largest number of ranks, among those from `first` on, that send through one NIC or
// through one access link to the common network.
int most_at_one_port(const Cluster& cluster, const MessageWay& way, int first, int ranks) {
  const NodeSpec& node = cluster.node_of_pool(way.pool);
  if (cluster.ranks.in_order()) {
    return std::min(ranks, way.apart ? node.gpus : (node.gpus + node.nics - 1) / node.nics);
  }
  std::map<int, int> at_port;
  int most = 0;
  for (int rank = first; rank < first + ranks; ++rank) {
    const int port = way.apart ? cluster.node_of(rank) : nic_of(cluster, rank);
    most = std::max(most, ++at_port[port]);
  }
  return most;
}

}  // namespace

MessageWay message_way(const Layout& layout, const LinkTable& links, int from_pp, int to_pp) {
  const Cluster& cluster = links.cluster();
  const int members = layout.tp * layout.cp * layout.dp;
  MessageWay way;
  // If ranks fill whole nodes, a node's first GPU represents the node, and one node represents
  // equal nodes.
  const bool whole = cluster.ranks.in_order() && members % cluster.node.gpus == 0;
  const auto step = [&](int from, int to) {
    if (!whole) return 1;
    return cluster.node.gpus * std::min(nodes_alike(links, cluster.node_of(from)),
                                        nodes_alike(links, cluster.node_of(to)));
  };
  for (int m = 0; m < members; m += step(from_pp * members + m, to_pp * members + m)) {
    const int from = from_pp * members + m;
    const int to = to_pp * members + m;
    way.in_node &= cluster.node_of(from) == cluster.node_of(to);
    way.in_package &= in_one_package(cluster, from, to);
    way.apart |= cluster.apart(from, to);
    const int pool = cluster.pool_of(from) == cluster.pool_of(to) ? cluster.pool_of(from) : -1;
    way.pool = m == 0 || way.pool == pool ? pool : -1;
    way.hops = std::max(way.hops, links.switch_hops(from, to));
    way.extra_latency_s = std::max(way.extra_latency_s, links.extra_latency_s(from, to));
  }
  if (way.in_node) return way;
  const auto slowest_of = [&](int pp) {
    return slowest_nic(cluster, pp * members, (pp + 1) * members - 1, way.pool);
  };
  way.at_one_port = most_at_one_port(cluster, way, from_pp * members, members);
  way.nic_factor = std::min(slowest_of(from_pp), slowest_of(to_pp));
  return way;
}

}  // namespace windtunnel

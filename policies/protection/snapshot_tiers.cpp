#include "policies/protection/snapshot_tiers.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "models/base/error.hpp"
#include "models/reliability/snapshot_place.hpp"
#include "policies/exchange/replica_groups.hpp"

namespace windtunnel {
namespace {

bool is_coded(const ErasureCode& code) {
  return code.parity > 0 || code.name == CodeName::recompute;
}

void check_shape(const ErasureCode& code, const std::string& tier) {
  if (code.data < 1 || code.parity < 0) {
    throw Error(
        fmt::format("tier: {}: a code cannot have {} data and {} parity blocks; data must be at "
                    "least 1 and parity at least 0",
                    tier, code.data, code.parity));
  }
  if (code.name == CodeName::copies && code.data != 1) {
    throw Error(
        fmt::format("tier: {}: copies cannot have {} data blocks; set data: 1, and parity to the "
                    "number of copies",
                    tier, code.data));
  }
  if (code.name == CodeName::xor_parity && code.parity != 1) {
    throw Error(
        fmt::format("tier: {}: XOR gives 1 parity block, not {}; for more take a "
                    "Reed-Solomon code",
                    tier, code.parity));
  }
  if (code.name == CodeName::recompute && !code.in_node) {
    throw Error(
        fmt::format("tier: {}: recomputing the optimizer state needs the weights of the same node, "
                    "so it is no code between nodes; take XOR, Reed-Solomon or copies",
                    tier));
  }
}

void check_code(const SnapshotTier& tier, int nodes) {
  const ErasureCode& code = tier.code;
  const std::string name = tier_name(tier);
  const PlaceCode allowed = traits_of(tier).code;
  if (allowed == PlaceCode::none && is_coded(code)) {
    throw Error(
        fmt::format("tier: {} takes no code, because its data survives failures by itself", name));
  }
  check_shape(code, name);
  if (allowed == PlaceCode::nodes && code.in_node) {
    throw Error(
        fmt::format("tier: {} takes a code between nodes; one inside the node belongs to tier: "
                    "host-memory",
                    name));
  }
  if (allowed == PlaceCode::always) {
    if (code.in_node) {
      throw Error(
          fmt::format("tier: {} is a code between nodes; one inside the node belongs to tier: "
                      "host-memory",
                      name));
    }
    if (code.parity == 0) {
      throw Error(
          fmt::format("tier: {} needs a code, without which nodes keep nothing for each other; "
                      "give one, such as one copy or XOR over a few nodes",
                      name));
    }
  }
  if (over_nodes(code) && code.members() > nodes) {
    throw Error(fmt::format(
        "tier: {}: a code over {} + {} nodes does not fit a job of {}; lower data or parity", name,
        code.data, code.parity, nodes));
  }
}

// Whether the copy still exists after the trainers have ended.
bool outlives_trainer(const SnapshotTier& tier) {
  return !traits_of(tier).of_process || tier.keeper_process;
}

}  // namespace

std::string tier_name(const SnapshotTier& tier) {
  return std::string(name_of(tier.place));
}

int NodeGroups::group_of(int node) const {
  const int block = std::min(node / (size * stride), std::max(0, nodes / (size * stride) - 1));
  return block * stride + node % stride;
}

int NodeGroups::groups() const {
  return std::max(1, nodes / (size * stride)) * stride;
}

int NodeGroups::members_of(int group) const {
  int members = 0;
  for (int node = group % stride; node < nodes; node += stride) members += group_of(node) == group;
  return members;
}

namespace {

// Finds the groups by comparing what each node holds, because ranks are out of order.
NodeGroups same_shard_by_rank(const Layout& layout, const Cluster& cluster,
                              const StridedGroups& copies) {
  const int members = layout.ranks() / layout.pp;
  std::vector<std::set<int>> shards(cluster.nodes);
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    shards[cluster.node_of(rank)].insert(rank / members * copies.size() +
                                         copies.group_of(rank % members));
  }
  const auto next = std::find(shards.begin() + 1, shards.end(), shards.front());
  const NodeGroups alone = {cluster.nodes, 1, 1};
  if (next == shards.end()) return alone;
  NodeGroups groups = {cluster.nodes, 1, static_cast<int>(next - shards.begin())};
  while (groups.size * groups.stride < cluster.nodes &&
         shards.at(std::size_t(groups.size) * groups.stride) == shards.front()) {
    ++groups.size;
  }
  std::map<int, int> first;  // [group] its first node
  for (int node = 0; node < cluster.nodes; ++node) {
    const auto [known, fresh] = first.try_emplace(groups.group_of(node), node);
    if (!fresh && shards[known->second] != shards[node]) return alone;
  }
  return groups;
}

}  // namespace

NodeGroups same_shard_nodes(const Layout& layout, const Cluster& cluster) {
  const int gpus = cluster.node.gpus;
  const StridedGroups copies = state_copies(layout);
  if (!cluster.ranks.in_order()) return same_shard_by_rank(layout, cluster, copies);
  const int apart = std::max(copies.stride, gpus);
  const int span = copies.stride * copies.count;
  NodeGroups groups{cluster.nodes, 1, 1};
  // A node with copies of all shards of its stage counts as one member. Copies that cross node
  // boundaries are not counted.
  if (apart % gpus != 0 || span % apart != 0 || (copies.stride < gpus && gpus % copies.stride != 0))
    return groups;
  groups.stride = apart / gpus;
  groups.size = span / apart;
  if (groups.size < 2) groups = {cluster.nodes, 1, 1};
  return groups;
}

TierProtection protection_of(const SnapshotTier& tier, int nodes, const NodeGroups& same_shard) {
  check_code(tier, nodes);
  const PlaceTraits& place = traits_of(tier);
  TierProtection protection;
  protection.groups = {nodes, 1, 1};
  protection.everything = !place.of_process && !place.of_node && place.outlives_stop;
  protection.trainer = outlives_trainer(tier);
  protection.keeper = !place.of_process || (tier.keeper_process && is_coded(tier.code));
  protection.node = place.of_node;
  protection.stop = place.outlives_stop && protection.trainer;
  if (!place.copied) {
    if (same_shard.size < 2) {
      throw Error(
          fmt::format("no rank of another node holds a second copy of a shard, so tier: {} can "
                      "restore nothing; let dp span at least two nodes, with layout.sharding: none "
                      "or layout.shard_ranks below dp x cp",
                      tier_name(tier)));
    }
    protection.groups = same_shard;
    protection.tolerated = protection.groups.size - 1;
  } else if (over_nodes(tier.code)) {
    protection.groups.size = tier.code.members();
    if (tier.code.spread) protection.groups.stride = nodes / tier.code.members();
    protection.tolerated = tier.code.parity;
  }
  return protection;
}

bool survives_nodes(const TierProtection& protection, std::span<const int> lost_nodes) {
  if (!protection.node || std::ssize(lost_nodes) <= protection.tolerated) return true;
  if (protection.tolerated == 0) return false;
  std::vector<int> groups;
  groups.reserve(lost_nodes.size());
  for (const int node : lost_nodes) groups.push_back(protection.groups.group_of(node));
  std::ranges::sort(groups);
  // In sorted order more losses than tolerated in one group are equal entries this far apart.
  const std::size_t reach = protection.tolerated;
  for (std::size_t i = reach; i < groups.size(); ++i) {
    if (groups[i] == groups[i - reach]) return false;
  }
  return true;
}

bool survives_end(const TierProtection& protection, const FailureClass& failure_class) {
  if (failure_class.kind == FailureKind::planned) return protection.stop;
  const bool takes_keeper =
      failure_class.kind == FailureKind::process && failure_class.takes_keeper;
  return takes_keeper ? protection.keeper : protection.trainer;
}

bool survives(const SnapshotTier& tier, FailureKind kind) {
  const PlaceTraits& place = traits_of(tier);
  if (kind == FailureKind::planned && !place.outlives_stop) return false;
  const bool on_one_node = place.copied && place.of_node && !over_nodes(tier.code);
  if (kind == FailureKind::node && on_one_node) return false;
  // A lost node ends all trainers, also those on other nodes.
  return outlives_trainer(tier);
}

void check_snapshot_tiers(const std::vector<SnapshotTier>& tiers,
                          const std::vector<FailureClass>& failures) {
  if (tiers.size() > kMaxSnapshotTiers) {
    throw Error(fmt::format("{} snapshot tiers are given; at most {} are possible", tiers.size(),
                            kMaxSnapshotTiers));
  }
  const bool stops = tier_for_planned_stop(tiers) != kNoTier;
  for (std::size_t i = 0; i < failures.size(); ++i) {
    const FailureClass& failure = failures[i];
    const std::string key = fmt::format("failures.{}", i);
    const std::string tier = key + ".tier";
    if (failure.kind == FailureKind::corrupt_snapshot &&
        failure.corrupt_tier >= static_cast<int>(tiers.size())) {
      throw Error::about(
          {tier, key, "snapshots"},
          "{}: failure class '{}' corrupts copies of snapshots.{}, but the number of tiers is {}",
          tier, failure.name, failure.corrupt_tier, tiers.size());
    }
    if (failure.kind != FailureKind::planned || stops) continue;
    throw Error::about(
        {key, "snapshots"},
        "{}: failure class '{}' stops the job as planned, but no snapshot tier survives a planned "
        "stop; add to snapshots a tier: storage, or keeper: process to a tier: host-memory",
        key, failure.name);
  }
}

void check_snapshot_tiers(const std::vector<SnapshotTier>& tiers, const Layout& layout,
                          const Cluster& cluster) {
  for (const SnapshotTier& tier : tiers) {
    protection_of(tier, cluster.nodes, same_shard_nodes(layout, cluster));
    if (tier.code.in_node && tier.code.members() > cluster.node.gpus) {
      throw Error(
          fmt::format("tier: {}: a code over {} + {} processes does not fit a node of {} GPUs; "
                      "lower data or parity",
                      tier_name(tier), tier.code.data, tier.code.parity, cluster.node.gpus));
    }
  }
}

int tier_for_planned_stop(const std::vector<SnapshotTier>& tiers) {
  for (int tier = static_cast<int>(tiers.size()) - 1; tier >= 0; --tier) {
    if (survives(tiers[tier], FailureKind::planned)) return tier;
  }
  return kNoTier;
}

int tier_to_restore_from(const std::vector<RestorableCopy>& copies) {
  int best = kNoTier;
  for (int tier = 0; tier < static_cast<int>(copies.size()); ++tier) {
    const RestorableCopy& copy = copies[tier];
    if (copy.iteration < 0) continue;
    if (best == kNoTier || copy.iteration > copies[best].iteration ||
        (copy.iteration == copies[best].iteration && copy.restore_s < copies[best].restore_s)) {
      best = tier;
    }
  }
  return best;
}

}  // namespace windtunnel

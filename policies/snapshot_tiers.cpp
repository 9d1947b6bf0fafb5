#include "policies/snapshot_tiers.hpp"

#include <algorithm>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

int divided_up(int number, int by) {
  return (number + by - 1) / by;
}

}  // namespace

std::string tier_name(const SnapshotTier& tier) {
  switch (tier.place) {
    case SnapshotPlace::host_memory:
      return "host-memory";
    case SnapshotPlace::peers:
      return "peers";
    case SnapshotPlace::local_disk:
      return "local-disk";
    case SnapshotPlace::storage:
      return "storage";
    case SnapshotPlace::replicas:
      return "replicas";
  }
  return "unknown";
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

NodeGroups same_shard_nodes(const Layout& layout, const Cluster& cluster) {
  const int replicas = layout.cp * layout.dp;
  const int shard = layout.shard_ranks > 0 ? layout.shard_ranks : 1;
  NodeGroups groups{cluster.nodes, 1, 1};
  if (replicas / shard < 2) return groups;
  // Replicas of a shard stand a shard apart on the ranks of their pipeline rank.
  groups.stride = std::max(1, divided_up(shard * layout.tp, cluster.node.gpus));
  const int nodes_of_rank = std::max(1, replicas * layout.tp / cluster.node.gpus);
  groups.size = std::max(1, nodes_of_rank / groups.stride);
  return groups;
}

TierProtection protection_of(const SnapshotTier& tier, int nodes, const NodeGroups& same_shard) {
  TierProtection protection;
  protection.groups = {nodes, 1, 1};
  switch (tier.place) {
    case SnapshotPlace::storage:
      protection.everything = protection.trainer = protection.keeper = true;
      return protection;
    case SnapshotPlace::replicas:
      protection.node = true;
      protection.groups = same_shard;
      protection.tolerated = protection.groups.size - 1;
      return protection;
    case SnapshotPlace::host_memory:
    case SnapshotPlace::peers:
    case SnapshotPlace::local_disk:
      break;
  }
  const bool disk = tier.place == SnapshotPlace::local_disk;
  protection.node = true;
  protection.trainer = disk || tier.keeper_process;
  protection.keeper = disk || (tier.keeper_process && tier.code.parity > 0);
  if (tier.code.parity > 0 && !tier.code.in_node) {
    protection.groups.size = tier.code.members();
    if (tier.code.spread) protection.groups.stride = nodes / tier.code.members();
    protection.tolerated = tier.code.parity;
  }
  return protection;
}

bool survives_nodes(const TierProtection& protection, std::span<const int> lost_nodes) {
  if (!protection.node) return true;
  for (const int node : lost_nodes) {
    const int group = protection.groups.group_of(node);
    const auto lost = std::ranges::count_if(
        lost_nodes, [&](int other) { return protection.groups.group_of(other) == group; });
    if (lost > protection.tolerated) return false;
  }
  return true;
}

bool survives_end(const TierProtection& protection, const FailureClass& failure_class) {
  switch (failure_class.kind) {
    case FailureKind::process:
      return failure_class.takes_keeper ? protection.keeper : protection.trainer;
    case FailureKind::node:
    case FailureKind::planned:
    case FailureKind::network:
    case FailureKind::hang:
    case FailureKind::slow_node:
    case FailureKind::corrupt_snapshot:
    case FailureKind::loss_spike:
      return protection.trainer;
  }
  return false;
}

bool survives(const SnapshotTier& tier, FailureKind kind) {
  if (tier.place == SnapshotPlace::storage) return true;
  if (tier.place == SnapshotPlace::replicas) return kind != FailureKind::planned;
  if (kind == FailureKind::node) return tier.code.parity > 0 && !tier.code.in_node;
  return tier.keeper_process || tier.place == SnapshotPlace::local_disk;
}

void check_snapshot_tiers(const std::vector<SnapshotTier>& tiers,
                          const std::vector<FailureClass>& failures) {
  if (tiers.size() > kMaxSnapshotTiers) {
    throw Error(fmt::format("{} snapshot tiers; at most {}", tiers.size(), kMaxSnapshotTiers));
  }
  for (const FailureClass& failure_class : failures) {
    if (failure_class.kind == FailureKind::corrupt_snapshot &&
        failure_class.corrupt_tier >= static_cast<int>(tiers.size())) {
      throw Error(fmt::format("failure class '{}' spoils copies of snapshots.{}, but there are {}",
                              failure_class.name, failure_class.corrupt_tier, tiers.size()));
    }
  }
  if (tier_for_planned_stop(tiers) != kNoTier) return;
  for (const FailureClass& failure_class : failures) {
    if (failure_class.kind != FailureKind::planned) continue;
    throw Error(fmt::format(
        "failure class '{}' stops the job as planned, but no snapshot tier survives a planned stop;"
        " add to snapshots a tier: storage, or keeper: process to a tier: host-memory",
        failure_class.name));
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

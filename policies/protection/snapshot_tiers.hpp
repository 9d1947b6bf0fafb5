// Which failures a snapshot tier survives, and from which tier a job is restored. Each tier has the
// name of its place.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/machine/cluster.hpp"
#include "models/reliability/failure_process.hpp"
#include "models/reliability/snapshot.hpp"
#include "models/workload/layout.hpp"

namespace windtunnel {

inline constexpr int kNoTier = -1;

// Returns "host-memory", "peers", "local-disk", "storage" or "replicas".
std::string tier_name(const SnapshotTier& tier);

// Groups of `size` nodes that are `stride` apart. Nodes that are left over at the end join the last
// complete group by their position.
struct NodeGroups {
  int nodes = 1;
  int size = 1;
  int stride = 1;
  int group_of(int node) const;
  int groups() const;
  int members_of(int group) const;  // size, or more if nodes left over have joined
};

// What the copies of a tier survive in a campaign.
struct TierProtection {
  bool everything = false;  // storage: survives everything
  bool trainer = false;     // survives that a trainer crashes
  bool keeper = false;      // survives that a keeper process crashes
  bool node = false;        // its data is lost with a node
  NodeGroups groups{};
  int tolerated = 0;  // number of lost nodes in a group that it survives
  bool stop = false;  // survives that all trainers end at once (a planned stop)
};

// Returns groups of nodes whose GPUs have the same shards; size 1: no other node has a copy.
NodeGroups same_shard_nodes(const Layout& layout, const Cluster& cluster);

// Returns what a tier survives in a job of `nodes` nodes. `same_shard` is used only for replicas.
// Throws Error, with a remedy, if the tier is impossible: more members than nodes, a code without
// data, replicas of a state that no other rank holds, ...
TierProtection protection_of(const SnapshotTier& tier, int nodes, const NodeGroups& same_shard);

// Whether the tier can restore everything if these distinct nodes were lost after its newest copy
// was complete.
bool survives_nodes(const TierProtection& protection, std::span<const int> lost_nodes);

// Whether the tier survives a failure of this class that ends trainers, regardless of lost nodes.
bool survives_end(const TierProtection& protection, const FailureClass& failure_class);

// Throws Error if a planned stop has no copy that survives it, because the whole run would be lost;
// if there are more than kMaxSnapshotTiers; or if a corrupt_tier does not exist.
void check_snapshot_tiers(const std::vector<SnapshotTier>& tiers,
                          const std::vector<FailureClass>& failures);

// Throws Error if a tier is impossible in such a job: by protection_of(), or because a code inside
// the node needs more processes than the node has GPUs.
void check_snapshot_tiers(const std::vector<SnapshotTier>& tiers, const Layout& layout,
                          const Cluster& cluster);

// Whether the tier's copy survives a single failure of this kind.
bool survives(const SnapshotTier& tier, FailureKind kind);

// Returns the tier for the last snapshot before a planned stop: the farthest one that survives the
// stop; kNoTier: there is none.
int tier_for_planned_stop(const std::vector<SnapshotTier>& tiers);

// The copy from which a tier could restore now.
struct RestorableCopy {
  std::int64_t iteration = -1;  // first iteration to run after restoring; negative: no copy
  double restore_s = 0;
};

// Returns the tier with the newest state; among equals the fastest to restore. kNoTier: none.
int tier_to_restore_from(const std::vector<RestorableCopy>& copies);

}  // namespace windtunnel

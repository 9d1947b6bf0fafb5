// Which failure a snapshot tier survives and from which tier a job is restored: the decisions
// behind a stack of tiers. A tier is named by its place.
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

// "host-memory", "peers", "local-disk", "storage", "replicas"
std::string tier_name(const SnapshotTier& tier);

// Nodes in groups: `size` nodes that stand `stride` apart form one. Nodes left over at the end
// belong to the last whole group of their place.
struct NodeGroups {
  int nodes = 1;
  int size = 1;
  int stride = 1;
  int group_of(int node) const;
  int groups() const;
  int members_of(int group) const;  // size, or more with nodes left over
};

// What destroys the copies of a tier, in the terms of a campaign.
struct TierProtection {
  bool everything = false;  // storage: nothing takes it
  bool trainer = false;     // survives the end of a trainer (crash)
  bool keeper = false;      // and of one keeper process
  bool node = false;        // its bytes are on what a lost node takes along
  NodeGroups groups{};
  int tolerated = 0;  // lost nodes per group
  bool stop = false;  // survives the end of all trainers at once (a planned stop)
};

// Nodes that hold the same shard of the state on their GPUs; size 1: no other node holds a copy.
NodeGroups same_shard_nodes(const Layout& layout, const Cluster& cluster);

// In a job of `nodes` nodes; `same_shard` counts for replicas only. Throws Error where the tier
// cannot be: more members than nodes, a code without data, replicas of a state of which no rank
// holds a second copy, ...: what is wrong and what to do.
TierProtection protection_of(const SnapshotTier& tier, int nodes, const NodeGroups& same_shard);

// Whether the tier still restores everything when these nodes (each once) have been lost since its
// newest copy was complete.
bool survives_nodes(const TierProtection& protection, std::span<const int> lost_nodes);

// Whether it does when the trainers end this way; node losses are apart.
bool survives_end(const TierProtection& protection, const FailureClass& failure_class);

// A planned stop without a copy that survives it would throw the whole run away. Throws Error:
// that, more than kMaxSnapshotTiers, or a corrupt_tier that is none.
void check_snapshot_tiers(const std::vector<SnapshotTier>& tiers,
                          const std::vector<FailureClass>& failures);

// Throws Error where a tier cannot be in such a job: protection_of(), and a code inside the node
// over more processes than it has GPUs.
void check_snapshot_tiers(const std::vector<SnapshotTier>& tiers, const Layout& layout,
                          const Cluster& cluster);

// Whether a lone failure of this kind leaves the tier's copy.
bool survives(const SnapshotTier& tier, FailureKind kind);

// The tier that a planned stop writes its last snapshot to: the farthest that survives the stop;
// kNoTier if none does.
int tier_for_planned_stop(const std::vector<SnapshotTier>& tiers);

// What a tier can restore now.
struct RestorableCopy {
  std::int64_t iteration = -1;  // first iteration to run after restoring; negative: nothing there
  double restore_s = 0;
};

// The tier with the newest state; of equally new ones the fastest to restore. kNoTier: all empty.
int tier_to_restore_from(const std::vector<RestorableCopy>& copies);

}  // namespace windtunnel

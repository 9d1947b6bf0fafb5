// Which failure a snapshot tier survives and from which tier a job is restored: the decisions
// behind a stack of tiers. A tier is named by its place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/failure_process.hpp"
#include "models/snapshot.hpp"

namespace windtunnel {

inline constexpr int kNoTier = -1;

std::string tier_name(const SnapshotTier& tier);  // "host-memory", "storage"

// Storage survives everything. Host memory is lost with its node; the end of the trainer (a crash
// or a planned stop) it survives only in a keeper process.
bool survives(const SnapshotTier& tier, FailureKind kind);

// Throws Error: more than kMaxSnapshotTiers, or planned stops and no tier that survives them: each
// would throw the whole run away, which is not what a plan is.
void check_snapshot_tiers(const std::vector<SnapshotTier>& tiers,
                          const std::vector<FailureClass>& failures);

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

#include "policies/snapshot_tiers.hpp"

#include "models/base/error.hpp"

namespace windtunnel {

std::string tier_name(const SnapshotTier& tier) {
  return tier.place == SnapshotPlace::host_memory ? "host-memory" : "storage";
}

bool survives(const SnapshotTier& tier, FailureKind kind) {
  if (tier.place == SnapshotPlace::storage) return true;
  return kind != FailureKind::node && tier.keeper_process;
}

void check_snapshot_tiers(const std::vector<SnapshotTier>& tiers,
                          const std::vector<FailureClass>& failures) {
  if (tiers.size() > kMaxSnapshotTiers) {
    throw Error(fmt::format("{} snapshot tiers; at most {}", tiers.size(), kMaxSnapshotTiers));
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

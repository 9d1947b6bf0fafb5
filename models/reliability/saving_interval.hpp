// The interval of a snapshot tier: iterations, seconds, a share of the time or a rule of the
// calling program, exactly one of them (SnapshotTier). Here it is
// checked, changed and written; Pace::cadence_of (sim/campaign) reads the members themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "models/reliability/snapshot.hpp"

namespace windtunnel {

// Where a scenario states it: "snapshots.0.every".
std::string interval_key(std::size_t tier);

bool counts_iterations(const SnapshotTier& tier);
bool saves_for_share(const SnapshotTier& tier);  // of the time
double interval_s(const SnapshotTier& tier);     // 0: not by time
// An interval that can be made longer or shorter; none of replicas and of rules.
bool has_interval(const SnapshotTier& tier);
// As a scenario states it: "10 iterations", "4 h".
std::string interval_text(const SnapshotTier& tier);

// Replaces the interval of the tier.
void save_every_iterations(SnapshotTier& tier, std::int64_t iterations);
void save_every_seconds(SnapshotTier& tier, double seconds);

// Fails a CHECK where a tier that copies has no interval or several, or one that does not copy has
// one.
void check_interval(const SnapshotTier& tier);

}  // namespace windtunnel

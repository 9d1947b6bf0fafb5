// The interval of a snapshot tier: iterations, seconds, a share of time, or a rule of the calling
// program; exactly one is set (SnapshotTier). These functions check, change and print it;
// Pace::cadence_of (sim/campaign) reads the members directly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "models/reliability/snapshot.hpp"

namespace windtunnel {

// A scenario states the interval under this key, for example "snapshots.0.every".
std::string interval_key(std::size_t tier);

bool counts_iterations(const SnapshotTier& tier);
bool saves_for_share(const SnapshotTier& tier);  // whether the interval is a share of time
double interval_s(const SnapshotTier& tier);     // 0: not set in seconds
// Whether the interval can be changed; replicas and rules have none.
bool has_interval(const SnapshotTier& tier);
// Writes the interval as a scenario does: "10 iterations", "4 h".
std::string interval_text(const SnapshotTier& tier);

void save_every_iterations(SnapshotTier& tier, std::int64_t iterations);
void save_every_seconds(SnapshotTier& tier, double seconds);

// Fails a CHECK if a tier that copies does not have exactly one interval, or another has any.
void check_interval(const SnapshotTier& tier);

}  // namespace windtunnel

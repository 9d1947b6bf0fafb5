// A snapshot tier: where a copy of the training state goes, how it gets there, how often, and which
// failures it survives. A policy is a stack of tiers, the nearest first.
#pragma once

#include <string>

namespace windtunnel {

enum class SnapshotPlace { host_memory, storage };
enum class SnapshotMode { sync, async };

// Every set of tiers that can fall due together is simulated once: 2^tiers iterations.
inline constexpr int kMaxSnapshotTiers = 4;

struct SnapshotTier {
  SnapshotPlace place = SnapshotPlace::storage;
  SnapshotMode mode = SnapshotMode::sync;
  // Exactly one of the two is positive.
  int every_iterations = 0;
  double every_s = 0;
  bool keeper_process = false;  // host memory outlives the trainer's crash
};

}  // namespace windtunnel

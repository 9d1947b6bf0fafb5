#include "tests/validate/harness/drill/random_drill.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "models/base/quantile.hpp"
#include "models/base/random.hpp"
#include "tests/validate/harness/drill/foreseen_drill.hpp"

namespace windtunnel {
namespace {

SnapshotTier random_tier(RandomStream& random, int nodes) {
  SnapshotTier tier;
  tier.every_iterations = 1 + static_cast<int>(random.below(4));
  tier.keeper_process = random.below(5) != 0;
  switch (random.below(6)) {
    case 0:
      tier.place = SnapshotPlace::host_memory;
      return tier;
    case 1:
      tier.place = SnapshotPlace::local_disk;
      return tier;
    case 2:
      tier.place = SnapshotPlace::storage;
      tier.every_iterations += 3;
      return tier;
    default:
      break;
  }
  tier.place = SnapshotPlace::peers;
  const int most = nodes - 1;
  switch (random.below(3)) {
    case 0:
      tier.code = {CodeName::copies, 1, 1 + static_cast<int>(random.below(2))};
      break;
    case 1:
      tier.code = {CodeName::xor_parity, std::min(most, 2 + static_cast<int>(random.below(2))), 1};
      break;
    default:
      tier.code = {CodeName::reed_solomon, std::min(most - 1, 2), 2};
  }
  return tier;
}

std::vector<int> random_nodes(RandomStream& random, int nodes, std::uint64_t most) {
  std::vector<int> drawn;
  for (std::uint64_t left = random.below(most + 1); left > 0; --left) {
    const int node = static_cast<int>(random.below(static_cast<std::uint64_t>(nodes)));
    if (std::ranges::find(drawn, node) == drawn.end()) drawn.push_back(node);
  }
  return drawn;
}

}  // namespace

Drill random_drill(std::uint64_t index) {
  RandomStream random(2026, RandomPurpose::test, index);
  Drill drill;
  drill.nodes = 4 + static_cast<int>(random.below(3));
  drill.state_bytes = 1000 + random.below(9000);
  drill.iterations = 1 + static_cast<std::int64_t>(random.below(9));
  for (std::uint64_t tiers = 1 + random.below(3); tiers > 0; --tiers) {
    drill.tiers.push_back(random_tier(random, drill.nodes));
  }
  drill.lost_nodes = random_nodes(random, drill.nodes, 3);
  drill.lost_trainers = random_nodes(random, drill.nodes, 2);
  if (random.below(4) == 0) drill.lost_keepers = random_nodes(random, drill.nodes, 1);
  // Each of these times is multiplied by a factor between 0.5 and 1.5.
  for (double DrillPace::*seconds :
       {&DrillPace::gpu_s, &DrillPace::network_s, &DrillPace::disk_s, &DrillPace::storage_s}) {
    drill.pace.*seconds *= 0.5 + random.uniform();
  }
  if (random.below(5) == 0) {
    drill.interrupted_tier = static_cast<int>(random.below(drill.tiers.size()));
    drill.written_nodes = static_cast<int>(random.below(static_cast<std::uint64_t>(drill.nodes)));
  }
  if (random.below(5) == 0) {
    drill.full_disk_from = 1 + static_cast<std::int64_t>(random.below(9));
  }
  const SnapshotTier& nearest = drill.tiers.front();
  const bool memory =
      nearest.place == SnapshotPlace::host_memory ||
      (nearest.place == SnapshotPlace::peers && nearest.code.name != CodeName::copies);
  if (memory && random.below(4) == 0) {
    drill.flipped_tier = 0;
    drill.flipped_node = static_cast<int>(random.below(static_cast<std::uint64_t>(drill.nodes)));
  }
  return drill;
}

DrillCount run_random_drills(std::uint64_t first, std::uint64_t count) {
  DrillCount counted;
  for (std::uint64_t index = first; index < first + count; ++index) {
    SCOPED_TRACE(fmt::format("drill {}", index));
    const Drill drill = random_drill(index);
    const DrillOutcome expected = foreseen(drill);
    const DrillOutcome outcome = run_drill(drill);
    EXPECT_EQ(outcome.tier, expected.tier);
    EXPECT_EQ(outcome.iteration, expected.iteration);
    EXPECT_TRUE(outcome.intact);
    if (outcome.tier != kNoTier) {
      counted.time_errors.push_back(std::abs(expected.restore_s / outcome.restore_s - 1));
    }
    ++(outcome.tier == kNoTier ? counted.unrecoverable : counted.recovered);
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a process is left";
  }
  return counted;
}

}  // namespace windtunnel

#include "tests/validate/harness/drill/drill.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "models/base/quantile.hpp"
#include "tests/validate/harness/drill/foreseen_drill.hpp"
#include "tests/validate/harness/drill/random_drill.hpp"

namespace windtunnel {
namespace {

Drill with_tier(SnapshotPlace place, ErasureCode code = {}) {
  Drill drill;
  drill.nodes = 4;
  drill.state_bytes = 5001;
  drill.iterations = 5;
  SnapshotTier tier;
  tier.place = place;
  tier.code = code;
  tier.keeper_process = true;
  tier.every_iterations = 2;
  drill.tiers = {tier};
  return drill;
}

void expect_served(const Drill& drill, int tier, std::int64_t iteration) {
  EXPECT_EQ(foreseen(drill).tier, tier);
  const DrillOutcome outcome = run_drill(drill);
  EXPECT_EQ(outcome.tier, tier);
  EXPECT_EQ(outcome.iteration, iteration);
  EXPECT_TRUE(outcome.intact);
}

TEST(Drill, HostMemoryOutlivesTrainersAndNotNodes) {
  Drill drill = with_tier(SnapshotPlace::host_memory);
  drill.lost_trainers = {1};
  expect_served(drill, 0, 4);
  drill.lost_nodes = {2};
  expect_served(drill, kNoTier, 0);
  drill.lost_nodes = {};
  drill.tiers[0].keeper_process = false;
  expect_served(drill, kNoTier, 0);
}

TEST(Drill, CodesGiveBackAsManyNodesAsTheyCover) {
  Drill drill = with_tier(SnapshotPlace::peers, {CodeName::reed_solomon, 2, 2});
  drill.lost_nodes = {0, 3};
  expect_served(drill, 0, 4);
  drill.lost_nodes = {0, 3, 1};
  expect_served(drill, kNoTier, 0);
  drill = with_tier(SnapshotPlace::peers, {CodeName::xor_parity, 3, 1});
  drill.lost_nodes = {2};
  expect_served(drill, 0, 4);
  drill.lost_nodes = {2, 1};
  expect_served(drill, kNoTier, 0);
}

// A flipped byte is detected, and a copy that the code covers is rebuilt.
TEST(Drill, AFlippedByteIsALostCopy) {
  Drill drill = with_tier(SnapshotPlace::peers, {CodeName::xor_parity, 3, 1});
  drill.flipped_tier = 0;
  drill.flipped_node = 1;
  expect_served(drill, 0, 4);
  drill.lost_nodes = {2};
  expect_served(drill, kNoTier, 0);
}

// The newest copy that is left serves, even if an older one would load faster.
TEST(Drill, TheNewestCopyServes) {
  Drill drill = with_tier(SnapshotPlace::host_memory);
  drill.tiers.push_back(with_tier(SnapshotPlace::storage).tiers[0]);
  drill.tiers.back().every_iterations = 5;
  drill.lost_trainers = {0};
  expect_served(drill, 1, 5);
  drill.iterations = 9;
  expect_served(drill, 0, 8);
  drill.lost_nodes = {3};
  expect_served(drill, 1, 5);
}

// Parts of the unfinished snapshot do not count, and the copy that it would have replaced is still
// there.
TEST(Drill, AFailureInTheMiddleOfASnapshotLeavesTheLastOne) {
  for (const SnapshotPlace place : {SnapshotPlace::peers, SnapshotPlace::local_disk}) {
    Drill drill =
        with_tier(place, place == SnapshotPlace::peers ? ErasureCode{CodeName::reed_solomon, 2, 2}
                                                       : ErasureCode());
    drill.iterations = 6;
    drill.interrupted_tier = 0;
    drill.written_nodes = 3;
    drill.lost_trainers = {1};
    expect_served(drill, 0, 4);
  }
}

TEST(Drill, AFullDiskKeepsTheLastCopyThatFitted) {
  Drill drill = with_tier(SnapshotPlace::local_disk);
  drill.iterations = 9;
  drill.full_disk_from = 5;
  drill.lost_trainers = {1};
  expect_served(drill, 0, 4);
  EXPECT_EQ(run_drill(drill).refused_copies, 2);
  drill.full_disk_from = 1;
  expect_served(drill, kNoTier, 0);
}

// The times of recoveries are judged over many drills (DrillLong).
TEST(Drill, RandomKillsEndAsForeseen) {
  const DrillCount counted = run_random_drills(0, 10);
  EXPECT_GE(counted.recovered, 3);
  EXPECT_GE(counted.unrecoverable, 1);
}

TEST(DrillLong, TwoHundredRandomKillsEndAsForeseen) {
  const DrillCount counted = run_random_drills(1000, 200);
  EXPECT_GE(counted.recovered, 100);
  EXPECT_GE(counted.unrecoverable, 20);
  EXPECT_LE(median(counted.time_errors), 0.15);
  RecordProperty("median_time_error", fmt::format("{:.3f}", median(counted.time_errors)));
  fmt::print("{} recovered, {} not; recovery times foreseen within {:.1f} % in the median\n",
             counted.recovered, counted.unrecoverable, 100 * median(counted.time_errors));
}

}  // namespace
}  // namespace windtunnel

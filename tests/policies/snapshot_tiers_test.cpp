#include "policies/snapshot_tiers.hpp"

#include <gtest/gtest.h>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

const SnapshotTier kStorage{.every_s = 3600};
const SnapshotTier kHost{.place = SnapshotPlace::host_memory, .every_iterations = 10};
const SnapshotTier kKept{
    .place = SnapshotPlace::host_memory, .every_iterations = 10, .keeper_process = true};

TEST(SnapshotTiers, WhatATierSurvives) {
  for (const FailureKind kind : {FailureKind::process, FailureKind::node, FailureKind::planned}) {
    EXPECT_TRUE(survives(kStorage, kind));
    EXPECT_FALSE(survives(kHost, kind));
    EXPECT_EQ(survives(kKept, kind), kind != FailureKind::node);
  }
}

TEST(SnapshotTiers, PlannedStopWritesToTheFarthestThatSurvives) {
  EXPECT_EQ(tier_for_planned_stop({kKept, kStorage}), 1);
  EXPECT_EQ(tier_for_planned_stop({kKept, kHost}), 0);
  EXPECT_EQ(tier_for_planned_stop({kHost}), kNoTier);
  EXPECT_EQ(tier_for_planned_stop({}), kNoTier);
}

TEST(SnapshotTiers, PlannedStopsNeedATierThatSurvivesThem) {
  const std::vector<FailureClass> unplanned{{.name = "crash", .kind = FailureKind::process},
                                            {.name = "gpu", .kind = FailureKind::node}};
  std::vector<FailureClass> planned = unplanned;
  planned.push_back({.name = "upgrade", .kind = FailureKind::planned});
  for (const std::vector<SnapshotTier>& tiers :
       {std::vector{kStorage}, {kKept}, {kHost, kStorage}}) {
    EXPECT_NO_THROW(check_snapshot_tiers(tiers, planned));
  }
  for (const std::vector<SnapshotTier>& tiers : {std::vector<SnapshotTier>{}, {kHost}}) {
    EXPECT_NO_THROW(check_snapshot_tiers(tiers, unplanned));
    try {
      check_snapshot_tiers(tiers, planned);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_STREQ(
          error.what(),
          "failure class 'upgrade' stops the job as planned, but no snapshot tier survives "
          "a planned stop; add to snapshots a tier: storage, or keeper: process to a tier: "
          "host-memory");
    }
  }
}

TEST(SnapshotTiers, AreAtMostFour) {
  EXPECT_NO_THROW(check_snapshot_tiers(std::vector(kMaxSnapshotTiers, kStorage), {}));
  EXPECT_THROW(check_snapshot_tiers(std::vector(kMaxSnapshotTiers + 1, kStorage), {}), Error);
}

TEST(SnapshotTiers, RestoresTheNewestThenTheFastest) {
  EXPECT_EQ(tier_to_restore_from({{40, 5}, {30, 1}}), 0);
  EXPECT_EQ(tier_to_restore_from({{-1, 1}, {30, 9}}), 1);
  EXPECT_EQ(tier_to_restore_from({{30, 5}, {30, 1}, {30, 2}}), 1);
  EXPECT_EQ(tier_to_restore_from({{0, 5}}), 0);
  EXPECT_EQ(tier_to_restore_from({{-1, 5}}), kNoTier);
}

TEST(SnapshotTiers, AreNamedByPlace) {
  EXPECT_EQ(tier_name(kHost), "host-memory");
  EXPECT_EQ(tier_name(kStorage), "storage");
}

}  // namespace
}  // namespace windtunnel

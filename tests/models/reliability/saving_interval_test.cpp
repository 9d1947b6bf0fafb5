#include "models/reliability/saving_interval.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <memory>

#include "models/base/error.hpp"
#include "models/reliability/saving_rule.hpp"

namespace windtunnel {
namespace {

SnapshotTier with_share() {
  return {.every_overhead = 0.035};
}

TEST(SavingInterval, ANewOneTakesThePlaceOfEveryKind) {
  SnapshotTier ruled;
  ruled.own = std::make_shared<SavingRule>();
  for (SnapshotTier tier :
       {SnapshotTier{.every_s = 60}, SnapshotTier{.every_iterations = 5}, with_share(), ruled}) {
    EXPECT_NO_THROW(check_interval(tier));
    save_every_iterations(tier, 10);
    EXPECT_NO_THROW(check_interval(tier));
    EXPECT_TRUE(counts_iterations(tier));
    EXPECT_FALSE(saves_for_share(tier));
    EXPECT_EQ(interval_s(tier), 0);
    save_every_seconds(tier, 3600);
    EXPECT_NO_THROW(check_interval(tier));
    EXPECT_FALSE(counts_iterations(tier));
    EXPECT_EQ(interval_s(tier), 3600);
  }
}

TEST(SavingInterval, IsOneUnlessNothingIsCopied) {
  for (const SnapshotTier& tier :
       {SnapshotTier{}, SnapshotTier{.every_iterations = 5, .every_s = 60},
        SnapshotTier{.every_s = 60, .every_overhead = 0.1},
        SnapshotTier{.place = SnapshotPlace::replicas, .every_s = 60}}) {
    EXPECT_THROW(check_interval(tier), InternalError) << interval_text(tier);
  }
  EXPECT_NO_THROW(check_interval({.place = SnapshotPlace::replicas}));
}

TEST(SavingInterval, WhatCanBeLengthened) {
  EXPECT_TRUE(has_interval({.every_s = 60}));
  EXPECT_TRUE(has_interval({.every_iterations = 5}));
  EXPECT_TRUE(has_interval(with_share()));
  EXPECT_FALSE(has_interval({.place = SnapshotPlace::replicas}));
  SnapshotTier ruled;
  ruled.own = std::make_shared<SavingRule>();
  EXPECT_FALSE(has_interval(ruled));
}

TEST(SavingInterval, IsWrittenAsAScenarioStatesIt) {
  EXPECT_EQ(interval_text({.every_iterations = 10}), "10 iterations");
  EXPECT_EQ(interval_text({.every_s = 4 * 3600}), "4 h");
  EXPECT_EQ(interval_key(2), "snapshots.2.every");
}

TEST(SavingInterval, MoreIterationsThanAnIntegerHasAreTheMost) {
  SnapshotTier tier;
  save_every_iterations(tier, std::int64_t{1} << 40);
  EXPECT_EQ(tier.every_iterations, std::numeric_limits<int>::max());
}

}  // namespace
}  // namespace windtunnel

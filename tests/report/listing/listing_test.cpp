#include "report/listing/listing.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/reliability/snapshot_place.hpp"
#include "policies/protection/snapshot_tiers.hpp"

namespace windtunnel {
namespace {

// Every place of the library that is on no node survives everything, but a new place might not: it
// must be listed as surviving the loss of any nodes.
TEST(Listing, WhatIsOnNoNodeSurvivesTheLossOfAny) {
  const SnapshotTier tier{.place = SnapshotPlace::storage};
  const TierProtection protection{.trainer = true, .groups = {64, 4, 16}};
  EXPECT_EQ(survived_text(tier, protection), "process crash, node loss");
  const Json json = survived_json(tier, protection);
  EXPECT_EQ(json.at("everything"), false);
  EXPECT_EQ(json.at("nodes"), 4);
  EXPECT_EQ(json.at("of_nodes"), 4);
}

TEST(Listing, WhatIsOnNodesSurvivesTheLossOfSome) {
  const SnapshotTier tier{.place = SnapshotPlace::peers};
  const TierProtection protection{.node = true, .groups = {64, 4, 16}, .tolerated = 1};
  EXPECT_EQ(survived_text(tier, protection), "loss of 1 of 4 nodes");
  EXPECT_EQ(survived_json(tier, protection).at("nodes"), 1);
}

TEST(Listing, EveryPlaceIsATier) {
  const auto listing = std::ranges::find(listings(), "snapshots", &Listing::name);
  ASSERT_NE(listing, listings().end());
  const Json tiers = listing->document().at("tiers");
  for (const PlaceTraits& place : kSnapshotPlaces) {
    const auto listed = std::ranges::count_if(tiers, [&](const Json& tier) {
      return tier.at("help").get<std::string>().starts_with(place.help);
    });
    EXPECT_GE(listed, 1) << place.help;
    EXPECT_LE(listed, 2) << place.help;  // held by the trainer or by a separate process
  }
}

}  // namespace
}  // namespace windtunnel

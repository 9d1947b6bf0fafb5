#include "sim/campaign/node_pool.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace windtunnel {
namespace {

// Two nodes have two spares, 2 and 3; one spare is kept hot, and others take 30 s to provide. The
// second spare is provided from the moment when the first is taken.
TEST(NodePool, HotSparesJoinAtOnce) {
  const RecoveryPolicy recovery{.spares = 2, .hot_spares = 1, .provision_s = 30};
  NodePool pool(recovery, 2, 1000);
  EXPECT_EQ(pool.replace(0, 100, 500), 0);
  EXPECT_EQ(pool.node_at(0), 2);
  EXPECT_EQ(pool.replace(1, 110, 500), 20);  // ready at 130
  EXPECT_EQ(pool.node_at(1), 3);
  EXPECT_EQ(pool.replace(0, 120, 500), 0);  // no spare is left
  EXPECT_EQ(pool.node_at(0), kNobody);
  EXPECT_EQ(pool.empty_slots(), 1);
  EXPECT_FALSE(pool.take_back(599));
  const auto back = pool.take_back(600);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->node, 0);
  EXPECT_EQ(back->slot, 0);
  EXPECT_EQ(pool.empty_slots(), 0);
  EXPECT_EQ(pool.next_back_s(), 610);
}

// Repairs take 100 s each, one at a time: nodes 0 and 1 fail at 10 and 20 s and come back at 110
// and 210 s, so they are down for 100 and 190 s. If the campaign ends at 150 s, these are 100 and
// 130 s.
TEST(NodePool, RepairsQueueForTheirSlots) {
  for (const auto& [length_s, down_s] : {std::pair(1000, 290), std::pair(150, 230)}) {
    const RecoveryPolicy recovery{.repair_slots = 1};
    NodePool pool(recovery, 2, length_s);
    pool.replace(0, 10, 100);
    pool.replace(1, 20, 100);
    EXPECT_EQ(pool.take_back(200)->at_s, 110);
    EXPECT_EQ(pool.next_back_s(), 210);
    EXPECT_NEAR(pool.down_s(), down_s, 1e-9);
    EXPECT_EQ(pool.take_back(210)->node, 1);
    EXPECT_TRUE(std::isinf(pool.next_back_s()));
  }
}

// A node that a provider takes does not come back: a new one comes, needs no repair slot and has
// never failed.
TEST(NodePool, WhatAProviderGivesIsNew) {
  const RecoveryPolicy recovery{.spares = 1, .repair_slots = 1, .evict_after = 2};
  NodePool pool(recovery, 3, 1000);
  pool.replace(0, 10, 500);  // is repaired; the spare, 3, replaces it
  pool.replace(0, 20, 100);  // waits for the slot
  pool.replace(1, 30, 100, true);
  EXPECT_EQ(pool.next_back_s(), 130);
  EXPECT_EQ(pool.take_back(130)->node, 4);
  EXPECT_EQ(pool.next_back_s(), 510);  // the slot was taken before
  EXPECT_EQ(pool.take_back(510)->node, 0);
  EXPECT_EQ(pool.next_back_s(), 610);
  EXPECT_NEAR(pool.down_s(), 500 + 590 + 100, 1e-9);
}

TEST(NodePool, ANodeThatFailsTwiceWithinItsTimeIsNotTakenBack) {
  const RecoveryPolicy recovery{.evict_after = 2, .evict_within_s = 100};
  NodePool pool(recovery, 1, 1e6);
  for (const auto& [failed_s, evicted] :
       {std::pair(0, false), std::pair(200, false), std::pair(290, true)}) {
    pool.replace(0, failed_s, 1);
    EXPECT_EQ(pool.take_back(failed_s + 1)->evicted, evicted) << failed_s;
  }
  EXPECT_EQ(pool.evicted(), 1);
  EXPECT_EQ(pool.node_at(0), kNobody);
}

}  // namespace
}  // namespace windtunnel

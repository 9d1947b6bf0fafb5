#include "sim/campaign/elastic.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace windtunnel {
namespace {

// Eight slots in four groups of two, of which two may be out; 5 s to come back.
Groups four_groups() {
  return Groups({.groups = 4, .rejoin_s = 5}, 8, 2);
}

TEST(Groups, AreLostAsAWholeAndNoMoreThanMayBeOut) {
  Groups groups = four_groups();
  EXPECT_TRUE(groups.can_lose({0, 1, 2}));   // two groups
  EXPECT_FALSE(groups.can_lose({0, 2, 4}));  // three
  groups.lose({1}, 100);
  EXPECT_TRUE(groups.is_out(0));
  EXPECT_FALSE(groups.is_out(2));
  EXPECT_TRUE(groups.can_lose({0, 7}));  // the one that is out already, and a second
  EXPECT_FALSE(groups.can_lose({2, 7}));
  EXPECT_TRUE(groups.all_out({0, 1}));
  EXPECT_FALSE(groups.all_out({1, 2}));
}

// Ready at 100 and 110 s, rejoined 5 s later; a group without a node waits until it is filled.
TEST(Groups, ComeBackWhenTheyHaveTheirNodes) {
  Groups groups = four_groups();
  groups.lose({0}, 100);
  groups.lose({2}, 110);
  groups.emptied(2);
  EXPECT_EQ(groups.lacking(), 1);
  EXPECT_EQ(groups.next_back_s(), 105);
  groups.take_back(105);
  EXPECT_EQ(groups.out(), 1);
  EXPECT_TRUE(std::isinf(groups.next_back_s()));
  groups.filled(2, 200);
  EXPECT_EQ(groups.next_back_s(), 205);
  groups.take_back(204);
  EXPECT_EQ(groups.out(), 1);
  groups.take_back(205);
  EXPECT_EQ(groups.out(), 0);
}

TEST(Groups, AllRestartButThoseThatLackANode) {
  Groups groups = four_groups();
  groups.lose({0, 2}, 100);
  groups.emptied(7);
  groups.restart();
  EXPECT_EQ(groups.out(), 1);
  EXPECT_TRUE(groups.is_out(6));
  EXPECT_FALSE(groups.is_out(0));
}

}  // namespace
}  // namespace windtunnel

#include "sim/campaign/elastic.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace windtunnel {
namespace {

// Eight slots form four groups of two; two groups may be out, and a group rejoins after 5 s.
Groups four_groups() {
  return Groups({.groups = 4, .rejoin_s = 5}, 8, 2);
}

TEST(Groups, AreLostAsAWholeAndNoMoreThanMayBeOut) {
  Groups groups = four_groups();
  EXPECT_TRUE(groups.can_lose({0, 1, 2}));   // two groups
  EXPECT_FALSE(groups.can_lose({0, 2, 4}));  // three groups
  groups.lose({1}, 100);
  EXPECT_TRUE(groups.is_out(0));
  EXPECT_FALSE(groups.is_out(2));
  EXPECT_TRUE(groups.can_lose({0, 7}));  // one group that is out, and a second
  EXPECT_FALSE(groups.can_lose({2, 7}));
  EXPECT_TRUE(groups.all_out({0, 1}));
  EXPECT_FALSE(groups.all_out({1, 2}));
}

// Groups are ready at 100 and 110 s and rejoin 5 s later. A group that lacks a node waits for one.
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

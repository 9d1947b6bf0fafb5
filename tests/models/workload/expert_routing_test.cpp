#include "models/workload/expert_routing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

namespace windtunnel {
namespace {

MixtureOfExperts experts(double zipf, int hot = 0) {
  MixtureOfExperts moe;
  moe.experts = 64;
  moe.per_token = 2;
  moe.zipf = zipf;
  moe.hot_experts = hot;
  return moe;
}

TEST(ExpertRouting, StatedImbalanceStands) {
  MixtureOfExperts moe = experts(0);
  EXPECT_EQ(expert_load(moe, 8).busiest(), 1);
  moe.imbalance = 1.7;
  EXPECT_EQ(expert_load(moe, 8).busiest(), 1.7);
  EXPECT_EQ(expert_load(moe, 1).busiest(), 1);
}

// Lists all choices of groups, and of experts in them with repetition.
double counted_places(const MixtureOfExperts& moe, int places) {
  const int of_group = moe.experts / moe.groups;
  double met = 0;
  int ways = 0;
  for (int groups = 0; groups < 1 << moe.groups; ++groups) {
    if (std::popcount(static_cast<unsigned>(groups)) != moe.groups_per_token) continue;
    std::vector<int> open;
    for (int e = 0; e < moe.experts; ++e) {
      if ((groups >> (e / of_group) & 1) != 0) open.push_back(e);
    }
    for (const int first : open) {
      for (const int second : open) {
        met += first * places / moe.experts == second * places / moe.experts ? 1 : 2;
        ++ways;
      }
    }
  }
  return met / ways;
}

TEST(ExpertRouting, PlacesThatATokenMeets) {
  MixtureOfExperts moe = experts(0);
  moe.groups_per_token = 1;
  for (const int groups : {1, 2, 4, 8}) {
    moe.groups = groups;
    moe.groups_per_token = std::max(1, groups / 2);
    for (const int places : {1, 2, 4, 8, 16, 64}) {
      EXPECT_NEAR(places_met(moe, places), counted_places(moe, places), 1e-9)
          << groups << " groups, " << places << " places";
    }
  }
  // Some places (nodes or ranks) share groups with their neighbours.
  moe = {.experts = 120, .per_token = 2, .groups = 8, .groups_per_token = 3, .ffn_hidden = 1};
  for (const int places : {3, 5, 6, 10, 12, 15}) {
    EXPECT_NEAR(places_met(moe, places), counted_places(moe, places), 1e-9) << places;
  }
  // DeepSeek-V3's node-limited routing meets at most four of eight nodes, for any number of draws.
  moe = {.experts = 256, .per_token = 8, .groups = 8, .groups_per_token = 4, .ffn_hidden = 1};
  EXPECT_NEAR(places_met(moe, 8), 4 * (1 - std::pow(0.75, 8)), 1e-9);
  moe.per_token = 1000;
  EXPECT_NEAR(places_met(moe, 8), 4, 1e-9);
  EXPECT_NEAR(places_met(moe, 2), 2 * (1 - 1. / 70), 1e-9);
}

// With one expert per rank the busiest rank has the most popular one: its share is 1 / sum of i^-s,
// relative to 1/64.
TEST(ExpertRouting, OneExpertPerRankByHand) {
  double sum = 0;
  for (int i = 1; i <= 64; ++i) sum += std::pow(i, -1.2);
  EXPECT_NEAR(expert_load(experts(1.2), 64).busiest(), 64 / sum, 1e-9);
  EXPECT_NEAR(expert_load(experts(1.2), 1).busiest(), 1, 1e-12);
}

// Each layer has the same popularities in another order, the same in whichever order layers are
// asked for. On average the orders are as uneven as the fixed one that stands for all.
TEST(ExpertRouting, EachLayerDrawsAnOrder) {
  MixtureOfExperts moe = experts(1.0);
  const double usual = expert_load(moe, 8).busiest();
  moe.orders = PopularityOrder::by_layer;
  double mean = 0;
  for (moe.layer = 0; moe.layer < 400; ++moe.layer) {
    const ExpertLoad load = expert_load(moe, 8);
    EXPECT_NEAR(std::accumulate(load.by_rank.begin(), load.by_rank.end(), 0.0), 8, 1e-9);
    mean += load.busiest() / 400;
  }
  EXPECT_NEAR(mean, usual, 0.05 * usual);
  moe.layer = 7;
  const std::vector<double> seventh = expert_load(moe, 8).by_rank;
  moe.layer = 8;
  EXPECT_NE(expert_load(moe, 8).by_rank, seventh);
  moe.layer = 7;
  EXPECT_EQ(expert_load(moe, 8).by_rank, seventh);
}

TEST(ExpertRouting, FewerExpertsPerRankAndSteeperPopularityAreLessEven) {
  double before = 1;
  for (const double zipf : {0.3, 0.6, 1.0, 1.5}) {
    const double busiest = expert_load(experts(zipf), 8).busiest();
    EXPECT_GT(busiest, before);
    EXPECT_GE(expert_load(experts(zipf), 16).busiest(), busiest);
    before = busiest;
  }
}

TEST(ExpertRouting, HotExpertsTakeTheirTokensOutOfTheCount) {
  double before = expert_load(experts(1.0), 16).busiest();
  for (const int hot : {1, 2, 4, 8, 16}) {
    const ExpertLoad load = expert_load(experts(1.0, hot), 16);
    EXPECT_LT(load.busiest(), before);
    EXPECT_GE(load.busiest(), 1);
    before = load.busiest();
  }
  EXPECT_NEAR(expert_load(experts(1.0, 64), 16).busiest(), 1, 1e-12);
  EXPECT_NEAR(expert_load(experts(1.0, 64), 16).received, 0, 1e-12);
}

// Ranks have different shares, and all wait for the rank with the largest.
TEST(ExpertRouting, RanksHaveSharesOfTheirOwn) {
  for (const int hot : {0, 4}) {
    for (const int ranks : {4, 16, 64}) {
      const ExpertLoad load = expert_load(experts(1.0, hot), ranks);
      ASSERT_EQ(std::ssize(load.by_rank), ranks);
      EXPECT_NEAR(std::accumulate(load.by_rank.begin(), load.by_rank.end(), 0.0), ranks, 1e-9);
      EXPECT_NEAR(std::ranges::max(load.by_rank) * (1 - load.hot), load.received, 1e-9);
      EXPECT_GE(std::ranges::min(load.by_rank), 0);
    }
  }
  EXPECT_TRUE(expert_load(experts(0), 8).by_rank.empty());
}

// In 20,000 orders of another generator the busiest eighth receives 2.39 times the mean on average,
// with a standard deviation of 0.34 between orders; the mean of 32 orders is then off by 0.06.
TEST(ExpertRouting, TheOrderIsAUsualOne) {
  EXPECT_NEAR(expert_load(experts(1.0), 8).received, 2.39, 3 * 0.06);
}

}  // namespace
}  // namespace windtunnel

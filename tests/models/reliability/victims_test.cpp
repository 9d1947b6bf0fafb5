#include "models/reliability/victims.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace windtunnel {
namespace {

FailureClass with_batches(std::vector<double> shares, bool adjacent) {
  FailureClass result;
  result.batch_shares = std::move(shares);
  result.batch_adjacent = adjacent;
  return result;
}

// The chi-square statistic of counts of draws against the hazards.
double chi_square(const std::vector<int>& counts, const std::vector<double>& hazards, int draws) {
  double sum = 0;
  for (const double hazard : hazards) sum += hazard;
  double result = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = draws * hazards[i] / sum;
    if (expected > 0) result += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  return result;
}

// Counts how often each slot is hit.
std::vector<int> hits(Victims& victims, int slots, int draws) {
  std::vector<int> counts(slots, 0);
  std::vector<int> hit;
  for (int i = 0; i < draws; ++i) {
    victims.draw(hit);
    EXPECT_EQ(hit.size(), 1U);
    ++counts.at(hit.at(0));
  }
  return counts;
}

TEST(Victims, AllAlikeAreHitEvenly) {
  const FailureClass plain;
  Victims victims(plain, 7, 1, 2);
  const std::vector<int> counts = hits(victims, 7, 70000);
  EXPECT_EQ(victims.speed(), 1);
  // 22.5 is the 99.9 % quantile with 6 degrees of freedom.
  EXPECT_LT(chi_square(counts, std::vector<double>(7, 1), 70000), 22.5);
}

TEST(Victims, AreHitInProportionToTheirHazard) {
  const FailureClass plain;
  Victims victims(plain, 5, 1, 3);
  const std::vector<double> hazards = {0.5, 0, 1, 4, 2};
  for (int i = 0; i < 5; ++i) victims.set_hazard(i, hazards[i]);
  EXPECT_DOUBLE_EQ(victims.speed(), 7.5 / 5);
  const std::vector<int> counts = hits(victims, 5, 70000);
  EXPECT_EQ(counts[1], 0);
  EXPECT_LT(chi_square(counts, hazards, 70000), 16.3);  // 99.9 %, 3 degrees of freedom
}

// A running sum would keep rounding errors of earlier hazards, and hit empty slots.
TEST(Victims, NobodyIsHitWhereNobodyStandsWhateverCameBefore) {
  const FailureClass plain;
  RandomStream random(1, RandomPurpose::test, 0);
  Victims victims(plain, 33, 1, 4);
  for (int i = 0; i < 20000; ++i) {
    victims.set_hazard(static_cast<int>(random.below(33)), std::exp(20 * random.normal()));
  }
  for (int i = 0; i < 33; ++i) victims.set_hazard(i, i == 11 ? 1e-30 : 0);
  std::vector<int> hit;
  for (int i = 0; i < 1000; ++i) {
    victims.draw(hit);
    EXPECT_EQ(hit, std::vector<int>{11});
  }
  victims.set_hazard(11, 0);
  EXPECT_EQ(victims.speed(), 0);
  victims.draw(hit);
  EXPECT_TRUE(hit.empty());
  for (int i = 0; i < 33; ++i) victims.set_hazard(i, 1);
  EXPECT_EQ(victims.speed(), 1);
}

TEST(Victims, BatchesHaveTheirSharesAndHitEachOnce) {
  for (const bool adjacent : {true, false}) {
    for (const bool uneven : {false, true}) {
      const FailureClass rack = with_batches({0.5, 0.2, 0, 0.3}, adjacent);
      Victims victims(rack, 12, 1, 5);
      if (uneven) {
        victims.set_hazard(3, 0);
        victims.set_hazard(8, 2.5);
      }
      std::vector<int> sizes(5, 0);
      std::vector<int> hit;
      for (int i = 0; i < 40000; ++i) {
        victims.draw(hit);
        ASSERT_LE(hit.size(), 4U);
        ++sizes[hit.size()];
        const std::set<int> once(hit.begin(), hit.end());
        ASSERT_EQ(once.size(), hit.size());
        ASSERT_FALSE(uneven && once.count(3) > 0);
        // Between the nodes of a batch there are only empty slots.
        const int between = *once.rbegin() - *once.begin() + 1 - static_cast<int>(once.size());
        if (adjacent) {
          ASSERT_LE(between, uneven && *once.begin() < 3 && *once.rbegin() > 3);
        }
      }
      EXPECT_EQ(sizes[3], 0);
      for (const int size : {1, 2, 4}) {
        const double share = rack.batch_shares[size - 1];
        EXPECT_NEAR(sizes[size] / 40000.0, share, 4 * std::sqrt(share * (1 - share) / 40000));
      }
    }
  }
}

TEST(Victims, ABatchIsNoLargerThanTheJob) {
  for (const bool adjacent : {true, false}) {
    const FailureClass room = with_batches({0, 0, 0, 0, 0, 1}, adjacent);
    Victims victims(room, 4, 1, 6);
    std::vector<int> hit;
    victims.draw(hit);
    std::sort(hit.begin(), hit.end());
    EXPECT_EQ(hit, (std::vector<int>{0, 1, 2, 3}));
    victims.set_hazard(2, 0);
    victims.draw(hit);
    std::sort(hit.begin(), hit.end());
    EXPECT_EQ(hit, (std::vector<int>{0, 1, 3}));
  }
}

// Each draw hits the requested number of nodes, each once and all equally often, but no empty slot.
TEST(Victims, SoManyOfThoseThatStand) {
  Victims victims(FailureClass(), 8, 1, 9);
  std::vector<int> hit;
  for (const bool one_missing : {false, true}) {
    if (one_missing) victims.set_hazard(5, 0);
    for (const std::size_t count : {0, 1, 3, 8, 11}) {
      std::vector<int> counts(8, 0);
      const std::size_t stand = one_missing ? 7 : 8;
      for (int i = 0; i < 7000; ++i) {
        victims.draw_any(count, hit);
        ASSERT_EQ(hit.size(), std::min(count, stand));
        ASSERT_EQ(std::set<int>(hit.begin(), hit.end()).size(), hit.size());
        for (const int slot : hit) ++counts[slot];
      }
      const double share = double(std::min(count, stand)) / double(stand);
      for (int slot = 0; slot < 8; ++slot) {
        const double expected = one_missing && slot == 5 ? 0 : share * 7000;
        EXPECT_NEAR(counts[slot], expected, 4.5 * std::sqrt(7000 * share * (1 - share)));
      }
    }
  }
}

// A pair is drawn one node after the other by hazards 3, 1, 1: slot 0 is in it with probability 3/5
// + 2 * 1/5 * 3/4.
TEST(Victims, ABatchAnywhereIsDrawnLikeTheFirst) {
  const FailureClass pair = with_batches({0, 1}, false);
  Victims victims(pair, 3, 1, 7);
  victims.set_hazard(0, 3);
  int with_first = 0;
  std::vector<int> hit;
  for (int i = 0; i < 40000; ++i) {
    victims.draw(hit);
    with_first += std::count(hit.begin(), hit.end(), 0) > 0;
  }
  EXPECT_NEAR(with_first / 40000.0, 0.9, 4 * std::sqrt(0.09 / 40000));
  EXPECT_DOUBLE_EQ(victims.speed(), 5.0 / 3);  // drawn nodes count again after the draw
}

TEST(Victims, FrailtyHasMeanOneAndItsVariance) {
  for (const double variance : {0.3, 1.0, 3.0}) {
    FailureClass lemons;
    lemons.frailty_variance = variance;
    constexpr int kNodes = 100000;
    double sum = 0;
    double squares = 0;
    for (int node = 0; node < kNodes; ++node) {
      const double hazard = node_hazard(lemons, 1, 2, node);
      sum += hazard;
      squares += hazard * hazard;
    }
    EXPECT_NEAR(sum / kNodes, 1, 4 * std::sqrt(variance / kNodes));
    // 3 v^2 + 6 v^3 is the fourth central moment of a gamma distribution with mean 1 and variance
    // v.
    const double error = std::sqrt((2 * variance * variance + 6 * std::pow(variance, 3)) / kNodes);
    EXPECT_NEAR(squares / kNodes - sum / kNodes * (sum / kNodes), variance, 5 * error);
    const Victims victims(lemons, kNodes, 1, 2);
    EXPECT_NEAR(victims.speed(), sum / kNodes, 1e-9);
  }
}

TEST(Victims, AHazardIsTheNodesOwn) {
  FailureClass lemons;
  lemons.frailty_variance = 1;
  std::set<double> seen;
  for (std::uint64_t seed = 1; seed < 4; ++seed) {
    for (std::uint64_t index = 0; index < 4; ++index) {
      for (int node = 0; node < 50; ++node) seen.insert(node_hazard(lemons, seed, index, node));
    }
  }
  EXPECT_EQ(seen.size(), 3U * 4 * 50);
  EXPECT_EQ(node_hazard(lemons, 2, 3, 4), node_hazard(lemons, 2, 3, 4));
}

// A rate per job stays the same when nodes are gone.
TEST(Victims, TheRateOfTheJobDoesNotFollowTheNodes) {
  FailureClass both;
  both.rate_per_node_s = 1;
  both.rate_per_job_s = 12;
  Victims victims(both, 4, 1, 8);
  victims.set_hazard(0, 0);
  EXPECT_DOUBLE_EQ(victims.speed() * job_rate_per_s(both, 4), 3 + 12);
}

}  // namespace
}  // namespace windtunnel

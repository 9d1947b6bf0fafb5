#include "models/reliability/code_survival.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "models/base/random.hpp"

namespace windtunnel {
namespace {

// This is 1 - group_loss(), computed as the other tail of the same distribution.
double group_survival(int members, int tolerated, double loss) {
  if (tolerated >= members) return 1;
  return boost::math::ibetac(tolerated + 1, members - tolerated, loss);
}

// The chance that no group of a job is lost.
double job_survival(int groups, int members, int tolerated, double loss) {
  const double lost = group_loss(members, tolerated, loss);
  if (lost > 0.5) return std::pow(group_survival(members, tolerated, loss), groups);
  return std::exp(groups * std::log1p(-lost));
}

// The lower bound of GEMINI (Wang et al., SOSP 2023, section 4) on recovery with m = `copies`
// copies over N = `nodes` nodes, if m divides N and j = `lost` nodes are lost: 1 below m losses,
// else max(0, 1 - N C(N-m, j-m) / (m C(N, j))).
double gemini_recovery_bound(int nodes, int copies, int lost) {
  if (lost < copies) return 1;
  // C(N-m, j-m) / C(N, j) is the probability that m given nodes are among the j lost ones.
  double all_lost = 1;
  for (int i = 0; i < copies; ++i) {
    all_lost *= static_cast<double>(lost - i) / (nodes - i);
  }
  return std::max(0.0, 1 - all_lost * nodes / copies);
}

// Whether every group survives the set of lost nodes (bit i: node i), losing at most `tolerated`
// each; nodes left over belong to the last group.
bool survives_set(std::uint32_t lost, int nodes, int members, int tolerated) {
  const int groups = std::max(1, nodes / members);
  std::vector<int> losses(groups);
  for (int node = 0; node < nodes; ++node) {
    losses[std::min(node / members, groups - 1)] += static_cast<int>(lost >> node & 1);
  }
  return std::ranges::all_of(losses, [&](int count) { return count <= tolerated; });
}

TEST(CodeSurvival, OneGroupAgreesWithTheEnumerationOfAllSubsets) {
  for (int members = 1; members <= 12; ++members) {
    for (int tolerated = 0; tolerated <= members; ++tolerated) {
      for (const double loss : {1e-9, 1e-4, 0.03, 0.5, 0.97}) {
        double survival = 0;
        double beyond = 0;
        for (std::uint32_t set = 0; set < 1U << members; ++set) {
          const int lost = std::popcount(set);
          const double chance = std::pow(loss, lost) * std::pow(1 - loss, members - lost);
          (lost <= tolerated ? survival : beyond) += chance;
        }
        // Both must be exact relative to their size, even if the loss is tiny.
        EXPECT_NEAR(group_survival(members, tolerated, loss), survival, 1e-12 * survival);
        EXPECT_NEAR(group_loss(members, tolerated, loss), beyond, 1e-12 * beyond);
      }
    }
  }
}

TEST(CodeSurvival, AllGroups) {
  // Each of 1024 groups of 8 + 2 loses a node with probability q = 1e-6. The first term of a
  // group's loss is C(10,3) q^3, and the sum is 1 - 7 q * 3 / 4 times that, so that 1 - survival is
  // 1024 * 120 * 1e-18.
  EXPECT_NEAR(group_loss(10, 2, 1e-6) / (120e-18 * (1 - 7e-6 * 3 / 4)), 1, 1e-10);
  EXPECT_NEAR(job_survival(1024, 10, 2, 1e-6), 1 - 1024 * 120e-18, 1e-15);
  EXPECT_DOUBLE_EQ(job_survival(3, 2, 1, 0.9), std::pow(1 - 0.81, 3));
  EXPECT_EQ(job_survival(3, 2, 0, 1), 0);
  EXPECT_EQ(job_survival(3, 2, 2, 1), 1);
}

TEST(CodeSurvival, NodesOutliveTheirWeibullLaw) {
  EXPECT_DOUBLE_EQ(node_survival(3, 2, 1), std::exp(-1.5));
  // For any shape the mean life is the integral of the survival function, here by trapezoids in u
  // with t = u^4.
  for (const double shape : {0.6, 1.0, 2.0}) {
    double mean_s = 0;
    const double step = 1e-3;
    for (double u = 0; u < 10; u += step) {
      const double middle = u + step / 2;
      mean_s += node_survival(std::pow(middle, 4), 2, shape) * 4 * std::pow(middle, 3) * step;
    }
    EXPECT_NEAR(mean_s, 2, 1e-5) << shape;
  }
}

TEST(CodeSurvival, FixedLossesAgreeWithTheEnumerationOfAllSets) {
  for (const int nodes : {1, 2, 7, 12}) {
    for (int members = 1; members <= nodes; ++members) {
      for (int tolerated = 0; tolerated < 4; ++tolerated) {
        std::vector<double> survivors(nodes + 1);
        std::vector<double> sets(nodes + 1);
        for (std::uint32_t set = 0; set < 1U << nodes; ++set) {
          sets[std::popcount(set)] += 1;
          if (survives_set(set, nodes, members, tolerated)) survivors[std::popcount(set)] += 1;
        }
        for (int lost = 0; lost <= nodes; ++lost) {
          EXPECT_NEAR(survival_after_losses(nodes, members, tolerated, lost),
                      survivors[lost] / sets[lost], 1e-12)
              << nodes << " " << members << " " << tolerated << " " << lost;
        }
      }
    }
  }
}

// Pairs survive with probability C(N/2, j) 2^j / C(N, j), here as prod_i (1 - i / (N - i)).
double pairs_survive(int nodes, int lost) {
  double survival = 1;
  for (int i = 0; i < lost; ++i) survival *= 1 - static_cast<double>(i) / (nodes - i);
  return survival;
}

TEST(CodeSurvival, PairsInClosedForm) {
  for (const int lost : {0, 1, 2, 3, 8, 9}) {
    EXPECT_NEAR(survival_after_losses(16, 2, 1, lost), pairs_survive(16, lost), 1e-14) << lost;
  }
  // A large cluster is exact too, although the number of sets exceeds any floating-point number.
  for (const int lost : {2, 100, 500, 2000}) {
    const double expected = pairs_survive(16384, lost);
    EXPECT_NEAR(survival_after_losses(16384, 2, 1, lost) / expected, 1, 1e-11) << lost;
  }
}

TEST(CodeSurvival, GeminiOfSixteenNodes) {
  // GEMINI (SOSP 2023) states 93.3 % after two losses and 80.0 % after three, with two copies over
  // 16 nodes. The bound is exact there, because three losses cannot contain two lost pairs.
  EXPECT_NEAR(survival_after_losses(16, 2, 1, 2), 0.9333, 5e-5);
  EXPECT_NEAR(survival_after_losses(16, 2, 1, 3), 0.8000, 5e-5);
  EXPECT_EQ(gemini_recovery_bound(16, 2, 1), 1);
  EXPECT_NEAR(gemini_recovery_bound(16, 2, 2), survival_after_losses(16, 2, 1, 2), 1e-14);
  EXPECT_NEAR(gemini_recovery_bound(16, 2, 3), survival_after_losses(16, 2, 1, 3), 1e-14);
  for (const int copies : {1, 2, 4, 8}) {
    for (int lost = 0; lost <= 16; ++lost) {
      EXPECT_LE(gemini_recovery_bound(16, copies, lost),
                survival_after_losses(16, copies, copies - 1, lost) + 1e-12);
    }
  }
}

// The share of random draws that survive, and four standard errors of it.
struct Sampled {
  double share;
  double error;
};
template <class Survives>
Sampled sample(int samples, Survives one_survives) {
  int survived = 0;
  for (int i = 0; i < samples; ++i) survived += one_survives() ? 1 : 0;
  const double share = static_cast<double>(survived) / samples;
  return {share, 4 * std::sqrt(share * (1 - share) / samples)};
}

TEST(CodeSurvival, AgreesWithRandomLosses) {
  // The nodes form 25 groups of 8 + 2; 6 nodes left over are in the last group.
  constexpr int kNodes = 256;
  constexpr int kMembers = 10;
  constexpr int kTolerated = 2;
  RandomStream random(7, RandomPurpose::failure_arrival, 0);
  std::vector<int> losses;
  const auto lose = [&](int node) {
    return ++losses[std::min(node / kMembers, kNodes / kMembers - 1)] <= kTolerated;
  };
  for (const int lost : {5, 10, 20}) {
    const Sampled sampled = sample(20000, [&] {
      losses.assign(kNodes / kMembers, 0);
      std::vector<char> gone(kNodes);
      bool survives = true;
      for (int left = lost; left > 0;) {
        const auto node = static_cast<int>(random.below(kNodes));
        if (gone[node]) continue;
        gone[node] = 1;
        --left;
        survives = lose(node) && survives;
      }
      return survives;
    });
    EXPECT_NEAR(survival_after_losses(kNodes, kMembers, kTolerated, lost), sampled.share,
                sampled.error);
  }
  const Sampled sampled = sample(20000, [&] {
    losses.assign(kNodes / kMembers, 0);
    bool survives = true;
    for (int node = 0; node < 250; ++node) {
      if (random.uniform() < 0.07) survives = lose(node) && survives;
    }
    return survives;
  });
  EXPECT_NEAR(job_survival(25, kMembers, kTolerated, 0.07), sampled.share, sampled.error);
}

}  // namespace
}  // namespace windtunnel

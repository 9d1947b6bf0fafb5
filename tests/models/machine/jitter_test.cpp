#include "models/machine/jitter.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "models/machine/slowest_factors.hpp"

namespace windtunnel {
namespace {

std::vector<double> factors_of(const Jitter& jitter, int unit, int draw, std::size_t count) {
  std::vector<double> factors(count);
  draw_factors(jitter, unit, draw, factors);
  return factors;
}

struct Sample {
  double mean = 0;
  double deviation = 0;
  double error = 0;  // standard error of the mean
};
Sample sample_of(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  Sample sample;
  for (const double value : values) sample.mean += value / count;
  for (const double value : values) sample.deviation += std::pow(value - sample.mean, 2) / count;
  sample.deviation = std::sqrt(sample.deviation);
  sample.error = sample.deviation / std::sqrt(count);
  return sample;
}

TEST(Jitter, AFactorBySigmaHasMeanOneAndThatSpread) {
  for (const double sigma : {0.02, 0.3}) {
    std::vector<double> factors = factors_of({.sigma = sigma}, 3, 0, 200'000);
    const Sample sample = sample_of(factors);
    EXPECT_NEAR(sample.mean, 1, 4 * sample.error) << sigma;
    for (double& factor : factors) factor = std::log(factor);
    EXPECT_NEAR(sample_of(factors).deviation, sigma, 0.01 * sigma);
  }
}

TEST(Jitter, BurstsLastAsLongAsStated) {
  const Jitter jitter{.bursts = {.good = 40, .bad = 8, .slowdown = 1.5}};
  double bad = 0;
  double bursts = 0;
  double begins_bad = 0;
  constexpr int kUnits = 2000;
  constexpr int kLength = 500;
  for (int unit = 0; unit < kUnits; ++unit) {
    const std::vector<double> factors = factors_of(jitter, unit, 7, kLength);
    begins_bad += factors.front() > 1;
    for (int i = 0; i < kLength; ++i) {
      ASSERT_TRUE(factors[i] == 1 || factors[i] == 1.5);
      bad += factors[i] > 1;
      bursts += factors[i] > 1 && i > 0 && factors[i - 1] == 1;
    }
  }
  // The chain is in its steady state from the first draw on: 8 / 48 of the draws lie in bursts, and
  // one in 48 begins one.
  EXPECT_NEAR(begins_bad / kUnits, 1.0 / 6, 0.035);
  EXPECT_NEAR(bad / kUnits / kLength, 1.0 / 6, 0.004);
  EXPECT_NEAR(bursts / kUnits / (kLength - 1), 1.0 / 48, 0.0005);
}

TEST(Jitter, BurstsOfOneDrawAlternateWithGoodOnes) {
  const std::vector<double> factors =
      factors_of({.bursts = {.good = 1, .bad = 1, .slowdown = 2}}, 0, 0, 10);
  for (std::size_t i = 1; i < factors.size(); ++i) EXPECT_NE(factors[i], factors[i - 1]);
}

TEST(Jitter, DrawsDependOnTheirPlaceAlone) {
  for (const Jitter& jitter :
       {Jitter{.sigma = 0.1}, Jitter{.bursts = {.good = 5, .bad = 2, .slowdown = 3}},
        Jitter{.share = 0.3, .slowdown = 2}}) {
    const std::vector<double> many = factors_of(jitter, 12, 5, 100);
    factors_of(jitter, 13, 5, 3);
    std::vector<double> few = factors_of(jitter, 12, 5, 40);
    EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
    EXPECT_NE(factors_of(jitter, 13, 5, 100), many);
    EXPECT_NE(factors_of(jitter, 12, 6, 100), many);
    Jitter other = jitter;
    other.seed = 2;
    EXPECT_NE(factors_of(other, 12, 5, 100), many);
  }
}

const Jitter kLaws[] = {{.sigma = 0.3},
                        {.exponential = 0.2},
                        {.pareto = 6},
                        {.share = 0.1, .slowdown = 2},
                        {.bursts = {.good = 30, .bad = 4, .slowdown = 3}},
                        {.bursts = {.good = 30, .bad = 4, .slowdown = 3, .tail = 6}}};

TEST(Jitter, EachLawHasItsMoments) {
  for (const Jitter& jitter : kLaws) {
    const Moments moments = factor_moments(jitter);
    Sample all;
    constexpr int kUnits = 200;
    for (int unit = 0; unit < kUnits; ++unit) {
      const Sample own = sample_of(factors_of(jitter, unit, 0, 4000));
      all.mean += own.mean / kUnits;
      all.deviation += own.deviation * own.deviation / kUnits;
      all.error += std::pow(own.mean - moments.mean, 2) / kUnits;
    }
    const double error = std::sqrt(all.error / kUnits);
    EXPECT_NEAR(all.mean, moments.mean, 4 * error);
    EXPECT_NEAR(all.deviation, moments.variance, 0.05 * moments.variance) << moments.mean;
    EXPECT_NEAR(moments.mean, expected_factor(jitter, 1, 1), 1e-6);
  }
}

// Draws correlate with the previous one as stated, and with earlier ones like a Markov chain's.
TEST(Jitter, ItRemembersAsStated) {
  for (const double memory : {0.0, 0.5, 0.95}) {
    const Jitter jitter{.sigma = 0.01, .memory = memory};
    double correlation[3] = {};
    for (int unit = 0; unit < 200; ++unit) {
      const std::vector<double> factors = factors_of(jitter, unit, 0, 2000);
      for (int distance : {1, 2}) {
        for (std::size_t i = distance; i < factors.size(); ++i) {
          correlation[distance] += std::log(factors[i] / 0.99995) *
                                   std::log(factors[i - distance] / 0.99995) / 1e-4 / 200 / 2000;
        }
      }
    }
    for (int distance : {1, 2}) {
      EXPECT_NEAR(correlation[distance], factor_correlation(jitter, distance), 0.02) << memory;
    }
  }
}

TEST(Jitter, AFactorOfTheRunHoldsForAllOfIt) {
  for (Jitter jitter : kLaws) {
    const double step = factors_of(jitter, 5, 2, 1).front();
    jitter.per = JitterPer::run;
    for (const double factor : factors_of(jitter, 5, 2, 50)) EXPECT_EQ(factor, step);
  }
}

TEST(Jitter, AStreamGoesOnWhereItWas) {
  for (const Jitter& jitter : kLaws) {
    const std::vector<double> whole = factors_of(jitter, 7, 1, 60);
    FactorStream stream(jitter, 7, 1);
    std::vector<double> parts(60);
    stream.next(std::span(parts).first(13));
    stream.next(std::span(parts).subspan(13, 1));
    stream.next(std::span(parts).subspan(14));
    EXPECT_EQ(parts, whole);
  }
}

TEST(Jitter, OrderStatisticsAreThoseOfSamples) {
  constexpr int kUnits = 24;
  constexpr int kDraws = 5000;
  for (const Jitter& jitter : kLaws) {
    std::vector<std::vector<double>> sorted(kUnits);
    std::vector<double> own(kUnits);
    for (int draw = 0; draw < kDraws; ++draw) {
      for (int unit = 0; unit < kUnits; ++unit) own[unit] = factors_of(jitter, unit, draw, 1)[0];
      std::ranges::sort(own);
      for (int k = 0; k < kUnits; ++k) sorted[k].push_back(own[k]);
    }
    for (int k = 1; k <= kUnits; ++k) {
      const Sample sample = sample_of(sorted[k - 1]);
      EXPECT_NEAR(expected_factor(jitter, kUnits, k), sample.mean, 5 * sample.error + 1e-3) << k;
    }
    const Sample slowest = sample_of(sorted.back());
    const Moments expected = slowest_moments(jitter, kUnits);
    EXPECT_NEAR(expected.mean, slowest.mean, 5 * slowest.error);
    EXPECT_NEAR(std::sqrt(expected.variance), slowest.deviation, 0.06 * slowest.deviation);
  }
}

TEST(Jitter, OnlyALawThatChangesSomethingIsActive) {
  EXPECT_FALSE(Jitter{}.active());
  EXPECT_FALSE(Jitter{.slowdown = 2}.active());
  EXPECT_FALSE((Jitter{.share = 0.5}.active()));
  EXPECT_FALSE((Jitter{.bursts = {.good = 9, .bad = 2}}.active()));
  EXPECT_TRUE(Jitter{.sigma = 1e-9}.active());
  EXPECT_TRUE((Jitter{.share = 0.5, .slowdown = 1.1}.active()));
  EXPECT_TRUE((Jitter{.bursts = {.good = 9, .bad = 2, .slowdown = 1.1}}.active()));
}

// Harter 1961, "Expected values of normal order statistics", Biometrika 48, lists the largest of n
// normal values in standard deviations; to first order the factor is 1 + sigma times that.
TEST(ExpectedFactors, TheLargestOfNormalValuesIsThatOfTheTables) {
  const double sigma = 1e-6;
  const std::pair<double, double> table[] = {{1, 0},         {2, 0.56419},  {5, 1.16296},
                                             {10, 1.53875},  {50, 2.24907}, {100, 2.50759},
                                             {200, 2.74604}, {400, 2.96818}};
  for (const auto& [n, expected] : table) {
    EXPECT_NEAR((expected_factors({.sigma = sigma}, 1, n, 1).slowest - 1) / sigma, expected, 2e-5)
        << n;
    EXPECT_NEAR((expected_factors({.sigma = sigma}, n, 1, 1).group - 1) / sigma, expected, 2e-5);
  }
}

TEST(ExpectedFactors, OfASlowShareSomeoneOfAllIsSlow) {
  const Jitter jitter{.share = 0.005, .slowdown = 1.1};
  const ExpectedFactors expected = expected_factors(jitter, 8, 32, 1);
  EXPECT_NEAR(expected.group, 1 + 0.1 * (1 - std::pow(0.995, 8)), 1e-12);
  EXPECT_NEAR(expected.slowest, 1 + 0.1 * (1 - std::pow(0.995, 256)), 1e-12);
}

// Simulates the slowest of `groups` groups of `units` units each: a group's factor is its units'
// largest factor in each draw, averaged over `draws` draws.
Sample slowest_by_simulation(const Jitter& jitter, int units, int groups, int draws, int runs) {
  std::vector<double> slowest;
  std::vector<double> factors(draws);
  for (int run = 0; run < runs; ++run) {
    double most = 0;
    for (int group = 0; group < groups; ++group) {
      std::vector<double> largest(draws, 0);
      for (int unit = 0; unit < units; ++unit) {
        draw_factors(jitter, group * units + unit, run, factors);
        for (int i = 0; i < draws; ++i) largest[i] = std::max(largest[i], factors[i]);
      }
      double sum = 0;
      for (const double factor : largest) sum += factor;
      most = std::max(most, sum / draws);
    }
    slowest.push_back(most);
  }
  return sample_of(slowest);
}

TEST(ExpectedFactors, AgreeWithSimulatedMaxima) {
  const Jitter laws[] = {{.sigma = 0.03},
                         {.sigma = 0.5},
                         {.share = 0.01, .slowdown = 1.5},
                         {.share = 0.3, .slowdown = 3}};
  for (const Jitter& law : laws) {
    for (const auto& [units, groups, draws] :
         {std::tuple{1, 1, 1}, {1, 64, 1}, {8, 16, 1}, {1, 32, 50}, {4, 16, 20}}) {
      const double expected = expected_factors(law, units, groups, draws).slowest;
      const Sample drawn = slowest_by_simulation(law, units, groups, draws, 2000);
      // The mean of tens of log-normal factors is slightly skewed, by about sigma over the root of
      // the number of draws; the estimate leaves this out.
      const double skewed = draws > 1 && law.sigma > 0 ? law.sigma * 0.1 * (expected - 1) : 0;
      EXPECT_NEAR(expected, drawn.mean, 4.5 * drawn.error + skewed + 1e-8)
          << law.sigma << " " << law.share << ": " << units << " x " << groups << " x " << draws;
    }
  }
}

// Treating bursts as independent draws has the error that docs/physics/cost.md states.
TEST(ExpectedFactors, BurstsAreMetWithinAFifthOfWhatTheyCost) {
  for (const auto& [good, bad] : {std::pair{200.0, 10.0}, {50.0, 5.0}, {20.0, 20.0}}) {
    const Jitter law{.bursts = {.good = good, .bad = bad, .slowdown = 1.5}};
    for (const int draws : {1, 10, 100, 1000}) {
      const double expected = expected_factors(law, 1, 64, draws).slowest;
      const double drawn = slowest_by_simulation(law, 1, 64, draws, 300).mean;
      fmt::print("good {} bad {} draws {}: {:.4f}, drawn {:.4f}\n", good, bad, draws, expected,
                 drawn);
      EXPECT_NEAR(expected, drawn, 0.2 * (drawn - 1));
    }
  }
}

// Even without a variance, estimates are finite, lie between a group's mean and the slowest of one
// draw, fall with the number of draws, and are near simulated values.
TEST(ExpectedFactors, TailsWithoutAVariance) {
  for (const Jitter& law :
       {Jitter{.pareto = 1.8}, Jitter{.bursts = {.good = 50, .bad = 3, .slowdown = 4, .tail = 1.8}},
        Jitter{.bursts = {.good = 50, .bad = 3, .slowdown = 4, .tail = 1.1}}}) {
    double last = expected_factors(law, 1, 64, 1).slowest;
    for (const int draws : {10, 100, 1000}) {
      const ExpectedFactors expected = expected_factors(law, 1, 64, draws);
      EXPECT_LT(expected.group, expected.slowest);
      EXPECT_LT(expected.slowest, last);
      last = expected.slowest;
    }
  }
  const Jitter law{.pareto = 1.8};
  for (const int draws : {10, 100}) {
    const double expected = expected_factors(law, 1, 64, draws).slowest;
    const Sample drawn = slowest_by_simulation(law, 1, 64, draws, 2000);
    EXPECT_NEAR(expected - 1, drawn.mean - 1, 0.3 * (drawn.mean - 1)) << draws;
  }
}

// Every way of computing the factor gives the same bits.
TEST(Jitter, TheSlowestOfUnitsHasTheLargestFactorOfEachDraw) {
  const Bursts bursts{.good = 20, .bad = 5, .slowdown = 1.7, .tail = 3};
  for (Jitter law : {Jitter{.sigma = 0.1}, Jitter{.exponential = 0.2}, Jitter{.pareto = 3},
                     Jitter{.bursts = bursts}, Jitter{.sigma = 0.1, .memory = 0.9},
                     Jitter{.sigma = 0.1, .per = JitterPer::run}}) {
    const std::vector<int> units = {3, 4, 9};
    std::vector<double> slowest(200), largest(200, 0);
    slowest_factors(law, units, 5, slowest);
    for (const int unit : units) {
      const std::vector<double> own = factors_of(law, unit, 5, largest.size());
      for (std::size_t i = 0; i < own.size(); ++i) largest[i] = std::max(largest[i], own[i]);
    }
    EXPECT_EQ(slowest, largest);
  }
}

}  // namespace
}  // namespace windtunnel

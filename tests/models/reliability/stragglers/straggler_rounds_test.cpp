#include "models/reliability/stragglers/straggler_rounds.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "models/machine/order_statistics.hpp"

namespace windtunnel {
namespace {

using enum RedundancyScheme;

constexpr int kWorkers = 64;

StragglerRounds rounds_of(const Redundancy& redundancy, const Jitter& jitter, int rounds = 8000,
                          int workers = kWorkers) {
  return sample_rounds(redundancy, jitter, alike_workers(workers, 1), rounds);
}

// Backup workers, dropping the slowest workers and a gradient code all wait for the n - s fastest.
TEST(StragglerRounds, BackupWorkersAreOrderStatistics) {
  for (const Jitter& jitter : {Jitter{.exponential = 1}, Jitter{.pareto = 3}, Jitter{.sigma = 0.3},
                               Jitter{.share = 0.05, .slowdown = 4}}) {
    for (const int stragglers : {0, 1, 4, 32}) {
      const double expected = expected_factor(jitter, kWorkers, kWorkers - stragglers);
      for (const RedundancyScheme scheme : {gradient_coding, drop_slowest, backup_workers}) {
        const StragglerRounds own = rounds_of({.scheme = scheme, .stragglers = stragglers}, jitter);
        EXPECT_NEAR(own.length, expected, 0.01 * expected) << stragglers;
        EXPECT_EQ(own.waited_share, 0);
      }
    }
  }
}

TEST(StragglerRounds, ExponentialOnesByHarmonicNumbers) {
  double harmonic = 0;
  for (int i = 5; i <= kWorkers; ++i) harmonic += 1.0 / i;
  const StragglerRounds own =
      rounds_of({.scheme = backup_workers, .stragglers = 4}, {.exponential = 1});
  EXPECT_NEAR(own.length, 1 + harmonic, 0.01 * own.length);
  EXPECT_NEAR(own.missing, 4, 1e-12);
  EXPECT_EQ(own.gradient_share, 1);
}

// The smallest of r exponential variables is exponential with mean 1 / r, and a round waits for n /
// r of them.
TEST(StragglerRounds, OfCopiesTheFastestCounts) {
  const StragglerRounds own = rounds_of({.scheme = replicated, .copies = 4}, {.exponential = 1});
  EXPECT_NEAR(own.length, 1 + expected_exponential_order(16, 16) / 4, 0.01 * own.length);
}

TEST(StragglerRounds, WithoutStragglersNothingIsLost) {
  for (const RedundancyScheme scheme : {none, gradient_coding, sr_sgc, m_sgc, replicated,
                                        drop_slowest, backup_workers, dynamic_backup}) {
    const StragglerRounds own =
        rounds_of({.scheme = scheme, .copies = 2, .tolerance = 0.5}, {}, 320);
    EXPECT_EQ(own.length, 1);
    EXPECT_EQ(own.slowest, 1);
    EXPECT_EQ(own.missing, 0);
    EXPECT_EQ(own.gradient_share, 1);
  }
}

TEST(StragglerRounds, WaitingForAllIsTheSlowest) {
  const Jitter jitter{.bursts = {.good = 500, .bad = 20, .slowdown = 2}};
  const StragglerRounds own = rounds_of({}, jitter, 60'000);
  EXPECT_NEAR(own.length, own.slowest, 1e-9);
  EXPECT_NEAR(own.length, expected_factor(jitter, kWorkers, kWorkers), 0.02);
}

// A round ends at its tolerance, unless more workers straggle than the code can replace.
TEST(StragglerRounds, ToleranceIsWaitedFor) {
  const Jitter jitter{.share = 0.02, .slowdown = 4};
  const StragglerRounds own =
      rounds_of({.scheme = gradient_coding, .stragglers = 3, .tolerance = 1}, jitter);
  double good = std::pow(0.98, kWorkers);
  double more = 1;
  for (int k = 0; k <= 3; ++k) more -= binomial_chance(kWorkers, k, 0.02);
  EXPECT_NEAR(own.waited_share, more, 0.01);
  EXPECT_NEAR(own.length, good * 1 + (1 - good - more) * 2 + more * 4, 0.02);
}

// A number of workers that is chosen in each round makes at least the progress of any fixed number.
TEST(StragglerRounds, ADynamicNumberMakesMostProgress) {
  for (const Jitter& jitter : {Jitter{.exponential = 0.2}, Jitter{.sigma = 0.1},
                               Jitter{.bursts = {.good = 300, .bad = 60, .slowdown = 3}}}) {
    const auto rate = [](const StragglerRounds& own) { return own.gradient_share / own.length; };
    const double dynamic = rate(rounds_of({.scheme = dynamic_backup}, jitter));
    for (const int stragglers : {0, 2, 4, 8, 12, 16, 24, 32}) {
      const double fixed =
          rate(rounds_of({.scheme = drop_slowest, .stragglers = stragglers}, jitter));
      EXPECT_GT(dynamic, 0.995 * fixed) << stragglers;
    }
  }
}

TEST(StragglerRounds, TheSameBytesAgain) {
  const Redundancy code{.scheme = m_sgc, .window = 3, .distinct = 9, .tolerance = 1};
  const Jitter jitter{.bursts = {.good = 40, .bad = 2, .slowdown = 3}};
  const StragglerRounds own = rounds_of(code, jitter, 1000);
  const StragglerRounds again = rounds_of(code, jitter, 1000);
  EXPECT_EQ(own.lengths, again.lengths);
  EXPECT_EQ(own.lengths.size(), std::size_t{kRoundParts});
  EXPECT_GT(own.waited_share, 0);
}

}  // namespace
}  // namespace windtunnel

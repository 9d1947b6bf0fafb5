// Sequential gradient coding on 256 workers (Krishnan, Ebrahimi, Khisti, ICLR 2023, arXiv
// 2211.13802). A worker's time as a function of its load follows from outputs in their repository
// (github.com/mamaj/Sequential-Gradient-Coding-2); the law of its stragglers is assumed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "models/reliability/stragglers/straggler_rounds.hpp"

namespace windtunnel {
namespace {

constexpr int kWorkers = 256;
constexpr Redundancy kGradientCode{
    .scheme = RedundancyScheme::gradient_coding, .stragglers = 15, .tolerance = 1};
constexpr Redundancy kSelective{
    .scheme = RedundancyScheme::sr_sgc, .burst = 2, .window = 3, .distinct = 23, .tolerance = 1};
constexpr Redundancy kMultiplexed{
    .scheme = RedundancyScheme::m_sgc, .burst = 1, .window = 2, .distinct = 27, .tolerance = 1};

// A worker has two states: 3 % of its rounds are slow, by a factor of 2.5, in bursts of 1.035
// rounds on average. The share follows from the published codes, which were the best of their kinds
// over 80 rounds of a measured profile: at most 15 of 256 stragglers in a round and 27 in two
// rounds are the maxima of 80 binomial draws with a share of 3 %. Burst length and slowdown are
// fitted to the authors' replay of that profile (see below), by M-SGC's gain and the uncoded run.
// Their actual runs are then predicted.
constexpr double kInARow = 1.035;
Jitter stragglers(double rounds = kInARow) {
  constexpr double kShare = 0.03;
  return {.bursts = {.good = rounds * (1 - kShare) / kShare, .bad = rounds, .slowdown = 2.5}};
}

// Returns the length of a round in which computing the whole batch takes a worker 1 + `slope` times
// as long as computing nothing.
double round_s(const Redundancy& own, const Jitter& jitter, double slope) {
  const StragglerRounds rounds = sample_rounds(own, jitter, alike_workers(kWorkers, 1), 3200);
  return rounds.length * (1 + slope * load_of(own, kWorkers) / kWorkers);
}

// These are the shortest rounds of the authors' runs with the loads of M-SGC and of GC
// (2_find_runtimes/results.ipynb). No worker straggles in them, so that the line through both gives
// a worker's time: 1.15 s without load, and 3.68 s more for the whole batch.
constexpr double kShortRound_s[] = {1.1778676, 1.3799380};
constexpr double kLoads[] = {0.007543, 0.0625};

double slope_of_runs() {
  const double more_s = (kShortRound_s[1] - kShortRound_s[0]) / (kLoads[1] - kLoads[0]);
  return more_s / (kShortRound_s[0] - more_s * kLoads[0]);
}

// The same notebook states how long 480 gradients take: mean and standard deviation of ten runs.
struct Runs {
  double mean_s, deviation_s;
};
constexpr double kRuns = 10;
constexpr Runs kPlainRuns = {1095.14, 50.66};
constexpr Runs kMultiplexedRuns = {916.37, 63.14};
constexpr double kBound = 0.04;  // for M-SGC's time over GC's: nearly two standard errors

// Missed: the published time is a sixth less, ours is a ninth less. If slow rounds never followed
// each other it would be 14.7 % less, which is within the bound: the authors' runs may have had
// shorter bursts than the profile to which the law is fitted, but nothing published says so.
TEST(GradientCoding, AMultiplexedCodeTakesANinthLessWhereASixthIsPublished) {
  constexpr double kHere = 0.891;  // also stated in systems.yaml
  const double slope = slope_of_runs();
  const Jitter jitter = stragglers();
  const double plain = round_s(kGradientCode, jitter, slope);
  const double multiplexed = round_s(kMultiplexed, jitter, slope);
  const double selective = round_s(kSelective, jitter, slope);
  const double ratio = kMultiplexedRuns.mean_s / kPlainRuns.mean_s;
  const double error = ratio / std::sqrt(kRuns) *
                       std::hypot(kMultiplexedRuns.deviation_s / kMultiplexedRuns.mean_s,
                                  kPlainRuns.deviation_s / kPlainRuns.mean_s);
  fmt::print("slope {:.2f}: M-SGC {:.3f}, SR-SGC {:.3f} of GC; {:.3f} +- {:.3f} published\n", slope,
             multiplexed / plain, selective / plain, ratio, error);
  EXPECT_NEAR(slope, 3.2, 0.02);
  EXPECT_LT(error, kBound);
  EXPECT_NEAR(multiplexed / plain, kHere, 0.002);
  EXPECT_GT(kHere, ratio + kBound) << "no longer missed: say so in systems.yaml";
  const Jitter apart = stragglers(1);
  EXPECT_NEAR(round_s(kMultiplexed, apart, slope) / round_s(kGradientCode, apart, slope), ratio,
              kBound);
  // The order of the codes is the published one.
  EXPECT_LT(multiplexed, selective);
  EXPECT_LT(selective, plain);
}

// The authors replayed the profile by which they chose the codes: delays measured without load,
// plus 2.2013 s for the whole batch (the regression in the same notebook). 80 gradients take 109.36
// s by GC and 103.73 s by M-SGC, in one round more: 5.1 % less. A round of GC without load takes
// 1.23 s, so that its slope is 1.8. If slow rounds never followed each other M-SGC would gain 9 %.
// The law's two numbers are fitted to this replay: the test checks the fit and predicts nothing.
TEST(GradientCoding, TheLawIsFittedToTheReplay) {
  constexpr double kMore_s = 2.2013;
  const double slope = kMore_s / (109.359 / 80 - kMore_s * kLoads[1]);
  EXPECT_NEAR(slope, 1.79, 0.01);
  const double plain = round_s(kGradientCode, stragglers(), slope);
  EXPECT_NEAR(round_s({}, stragglers(), slope) / plain, 122.638 / 109.359, 0.02);
  const auto gain = [&](double rounds) {
    const Jitter jitter = stragglers(rounds);
    return 1 - round_s(kMultiplexed, jitter, slope) / round_s(kGradientCode, jitter, slope);
  };
  constexpr double kReplayed = 1 - 103.727 / 109.359;
  fmt::print(
      "slope {:.2f}: M-SGC takes {:.1f}, {:.1f}, {:.1f} % less with 1, 1.035, 1.05 in a row\n",
      slope, 100 * gain(1), 100 * gain(kInARow), 100 * gain(1.05));
  EXPECT_GT(gain(1), kReplayed + 0.02);
  EXPECT_NEAR(gain(kInARow), kReplayed, 0.01);
}

TEST(GradientCoding, AsMuchAsTheLoadIsWorth) {
  for (const double rounds : {1.0, 1.02, 1.05, 1.2, 1.5}) {
    for (const double slope : {0.0, 1.2, 3.2, 8.0}) {
      const Jitter jitter = stragglers(rounds);
      const double gain =
          1 - round_s(kMultiplexed, jitter, slope) / round_s(kGradientCode, jitter, slope);
      fmt::print("bursts of {:.2f} rounds, slope {:.1f}: M-SGC takes {:+.1f} %\n", rounds, slope,
                 -100 * gain);
      // M-SGC must wait for bursts that are longer than its one round.
      if (rounds > 1.1 && slope == 0) {
        EXPECT_LT(gain, 0);
      }
      if (rounds == 1) {
        EXPECT_GT(gain, -0.01) << slope;
      }
    }
  }
}

}  // namespace
}  // namespace windtunnel

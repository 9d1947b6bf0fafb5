#include "models/reliability/interval_theory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <limits>

#include "models/base/random.hpp"
#include "tests/support/two_level_theory.hpp"

namespace windtunnel {
namespace {

// Finds the best near interval for a given far_every.
TwoLevelIntervals best_near(const TwoLevels& levels, int far_every) {
  // The near interval is below the mean time between failures (exact_interval_s is), and the far
  // period below four times that of far failures. In the logarithm of the interval the cost is
  // nearly a parabola.
  const double mtbf_s = 1 / (1 / levels.near_mtbf_s + 1 / levels.far_mtbf_s);
  const double most_s = std::min(mtbf_s, 4 * levels.far_mtbf_s / far_every);
  const double least_s =
      1e-3 *
      std::min(most_s, young_interval_s(std::min(levels.near_save_s, levels.far_save_s), mtbf_s));
  const auto time_per_work = [&](double log_s) {
    const double near_s = std::exp(log_s);
    const double spent_s = period_s(levels, {near_s, far_every});
    return std::isfinite(spent_s) ? std::log(spent_s / (near_s * far_every)) : 1e300;
  };
  constexpr int kBits = 26;  // half of a double's, as a minimum is flat
  const auto best = boost::math::tools::brent_find_minima(time_per_work, std::log(least_s),
                                                          std::log(most_s), kBits);
  return {std::exp(best.first), far_every};
}

// Finds the intervals with the best two_level_goodput().
TwoLevelIntervals two_level_optimum(const TwoLevels& levels) {
  CHECK(levels.near_save_s > 0 && levels.far_save_s > 0, "saves of {} s and {} s cost nothing",
        levels.near_save_s, levels.far_save_s);
  CHECK(std::isfinite(levels.near_mtbf_s) || std::isfinite(levels.far_mtbf_s), "nothing fails");
  constexpr int kMostFarEvery = 1 << 20;
  const auto goodput = [&](int far_every) {
    return two_level_goodput(levels, best_near(levels, far_every));
  };
  int beyond = 2;  // the optimum lies in [1, beyond]
  for (double best = goodput(1); beyond < kMostFarEvery; beyond *= 2) {
    const double next = goodput(beyond);
    if (next <= best) break;
    best = next;
  }
  int least = std::max(1, beyond / 4);
  int most = beyond;
  while (most > least) {  // bisects by the sign of the slope
    const int middle = least + (most - least) / 2;
    if (goodput(middle) < goodput(middle + 1)) {
      least = middle + 1;
    } else {
      most = middle;
    }
  }
  return best_near(levels, least);
}

// The first-order intervals: sqrt(2 d_near M_near), and sqrt(2 d_far M_far) rounded to a multiple
// of it.
TwoLevelIntervals two_level_young(const TwoLevels& levels) {
  const double near_s = young_interval_s(levels.near_save_s, levels.near_mtbf_s);
  const double far_s = young_interval_s(levels.far_save_s, levels.far_mtbf_s);
  if (!(near_s < far_s)) return {far_s, 1};
  constexpr double kMostFarEvery = 1 << 30;  // fits an int, if no failure needs a far copy
  return {near_s, static_cast<int>(std::min(kMostFarEvery, std::round(far_s / near_s)))};
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMinute = 60;
constexpr double kDay = 86400;

TEST(IntervalTheory, ExactOptimumAgreesWithBruteForce) {
  for (const double save_s : {0.01, 1.0, 20.0, 300.0}) {
    const double mtbf_s = 100;
    double best_s = 0;
    double best = 0;
    for (double work_s = 1e-2; work_s < 300; work_s *= 1.0005) {
      const double goodput = expected_goodput(work_s, save_s, mtbf_s, 6);
      if (goodput > best) {
        best = goodput;
        best_s = work_s;
      }
    }
    const double exact_s = exact_interval_s(save_s, mtbf_s);
    EXPECT_NEAR(exact_s / best_s, 1, 5e-3) << save_s;
    const double waste = 1 - expected_goodput(exact_s, save_s, mtbf_s, 6);
    EXPECT_NEAR(waste / (1 - best), 1, 1e-6) << save_s;
    EXPECT_LE(waste, 1 - best);
  }
}

TEST(IntervalTheory, ExactOptimumSolvesItsEquation) {
  // With u = T / M and x = d / M the condition d/dT (e^((T+d)/M) - 1) / T = 0 becomes u + ln(1 - u)
  // = -x. For small u the left side is -u^2/2 - u^3/3 - ...
  for (const double ratio : {1e-12, 1e-9, 0.99e-6, 1.01e-6, 1e-4, 1e-2, 1.0, 10.0}) {
    const double u = exact_interval_s(ratio * 1e4, 1e4) / 1e4;
    double left = u + std::log1p(-u);
    if (u < 0.01) {
      left = 0;
      for (int n = 12; n >= 2; --n) left -= std::pow(u, n) / n;
    }
    EXPECT_NEAR(left / -ratio, 1, 2e-9) << ratio;
  }
  EXPECT_EQ(exact_interval_s(0, 100), 0);
  EXPECT_NEAR(exact_interval_s(1e6, 100), 100, 1e-9);  // a save so long is never worth it
}

TEST(IntervalTheory, YoungAndDalyApproachTheExactOptimum) {
  // With s = sqrt(2 d / M) the exact T / M is s - s^2/3 + s^3/36 + O(s^4): Young's formula has the
  // first term, Daly's all three.
  for (const double ratio : {1e-10, 1e-8, 1e-6, 1e-4, 1e-2}) {
    const double exact_s = exact_interval_s(ratio * 1e4, 1e4);
    const double root = std::sqrt(2 * ratio);
    EXPECT_NEAR(young_interval_s(ratio * 1e4, 1e4) / exact_s - 1, root / 3, ratio);
    EXPECT_NEAR(daly_interval_s(ratio * 1e4, 1e4) / exact_s, 1, root * ratio + 1e-9);
  }
  // Young's interval is sqrt(2 * 2 * 100) = 20, Daly's 20 (1 + 0.1 / 3 + 0.01 / 9) - 2 = 18.6888...
  EXPECT_DOUBLE_EQ(young_interval_s(2, 100), 20);
  EXPECT_NEAR(daly_interval_s(2, 100), 18 + 20 * (0.1 / 3 + 0.01 / 9), 1e-12);
  EXPECT_EQ(daly_interval_s(200, 100), 100);
  EXPECT_EQ(young_interval_s(2, kInfinity), kInfinity);
}

TEST(IntervalTheory, SegmentLimits) {
  EXPECT_EQ(expected_segment_s(20, 2, kInfinity, 5), 22);
  EXPECT_NEAR(expected_segment_s(20, 2, 1e12, 5), 22, 1e-9);
  EXPECT_EQ(expected_goodput(0, 0, 100, 5), 0);
  EXPECT_EQ(expected_goodput(1e6, 0, 100, 5), 0);
}

TEST(IntervalTheory, MetaRscProjections) {
  // Kokolis et al., HPCA 2025, project 16,000 GPUs with 6.5e-3 failures per node-day and restarts
  // of 5 min, and 100,000 GPUs with 2.34e-3 and 2 min for restart and interval; writing takes no
  // time.
  const double rsc1 = 6.5e-3 / kDay;
  EXPECT_NEAR(rsc_ettr(2000, rsc1, 5 * kMinute, 5 * kMinute, 0), 0.932, 5e-4);
  EXPECT_NEAR(rsc_ettr(2000, rsc1, 5 * kMinute, 60 * kMinute, 0), 0.684, 5e-4);
  EXPECT_NEAR(rsc_ettr(12500, 2.34e-3 / kDay, 120, 120, 0), 0.939, 5e-4);
  EXPECT_DOUBLE_EQ(rsc_ettr(1, 0, 0, 100, 25), 0.8);
  EXPECT_EQ(rsc_ettr(100000, rsc1, 3600, 3600, 0), 0);
}

TEST(IntervalTheory, GeminiWaste) {
  // MT-NLG 530B over 20 Gbit/s (GEMINI, section 2) takes 42 min to save, saves back to back, and
  // takes 42 min to load.
  EXPECT_DOUBLE_EQ(gemini_wasted_s(42 * kMinute, 42 * kMinute, 42 * kMinute), 105 * kMinute);
}

TEST(IntervalTheory, FtHsdpCycles) {
  // arXiv 2602.00277: a failure occurs every 18 min. Synchronous recovery stops all groups for 10
  // min; fault-tolerant groups stop for 3 min, then 11 of 12 run on for 7 min.
  EXPECT_NEAR(cycle_ettr(18 * kMinute, 10 * kMinute, 0, 0), 0.444, 5e-4);
  EXPECT_NEAR(cycle_ettr(18 * kMinute, 3 * kMinute, 7 * kMinute, 11.0 / 12), 0.801, 5e-4);
  EXPECT_EQ(cycle_ettr(5, 10, 0, 1), 0);
  EXPECT_DOUBLE_EQ(cycle_ettr(10, 5, 10, 0.5), 0.25);
}

// --- two levels

constexpr TwoLevels kLevels{.near_save_s = 0.5,
                            .far_save_s = 4,
                            .near_mtbf_s = 100,
                            .far_mtbf_s = 900,
                            .near_restart_s = 3,
                            .far_restart_s = 12};

TEST(TwoLevels, OneLevelIsTheSingleLevelFormula) {
  TwoLevels levels = kLevels;
  levels.near_mtbf_s = kInfinity;
  EXPECT_NEAR(two_level_goodput(levels, {40, 1}), expected_goodput(40, 4, 900, 12), 1e-14);
  levels = kLevels;
  levels.near_restart_s = levels.far_restart_s;
  EXPECT_NEAR(two_level_goodput(levels, {40, 1}), expected_goodput(40, 4, 90, 12), 1e-14);
  levels = kLevels;
  levels.far_mtbf_s = kInfinity;
  levels.far_save_s = levels.near_save_s;
  EXPECT_NEAR(two_level_goodput(levels, {10, 7}), expected_goodput(10, 0.5, 100, 3), 1e-14);
  levels.near_mtbf_s = kInfinity;
  EXPECT_DOUBLE_EQ(two_level_goodput(levels, {10, 7}), 10 / 10.5);
  EXPECT_EQ(two_level_goodput(kLevels, {10, 1 << 20}), 0);
}

struct Played {
  double goodput;
  double error;  // four standard errors, relative
};

// Simulates the rules behind the formula for `periods` far periods.
Played play(const TwoLevels& levels, const TwoLevelIntervals& intervals, int periods) {
  RandomStream random(11, RandomPurpose::failure_arrival, 0);
  double near_s = random.exponential(levels.near_mtbf_s);  // until the next failure
  double far_s = random.exponential(levels.far_mtbf_s);
  double wall_s = 0;
  double sum_s = 0;
  double squares_s2 = 0;
  // Returns 0 if the time passed without a failure, 1 after a near failure, 2 after a far one.
  const auto spend = [&](double time_s) {
    const double first_s = std::min({time_s, near_s, far_s});
    wall_s += first_s;
    near_s -= first_s;
    far_s -= first_s;
    if (near_s == 0) {
      near_s = random.exponential(levels.near_mtbf_s);
      return 1;
    }
    if (far_s == 0) {
      far_s = random.exponential(levels.far_mtbf_s);
      return 2;
    }
    return 0;
  };
  for (int period = 0; period < periods; ++period) {
    wall_s = 0;
    bool near_copy = true;
    for (int segment = 0; segment < intervals.far_every;) {
      const bool far_save = segment == intervals.far_every - 1;
      int struck = spend(intervals.near_s + (far_save ? levels.far_save_s : levels.near_save_s));
      if (struck == 0) {
        ++segment;
        near_copy = true;
      }
      while (struck != 0) {
        if (struck == 2 || !near_copy) {
          near_copy = false;
          segment = 0;
        }
        struck = spend(near_copy ? levels.near_restart_s : levels.far_restart_s);
      }
    }
    sum_s += wall_s;
    squares_s2 += wall_s * wall_s;
  }
  const double mean_s = sum_s / periods;
  const double deviation_s = std::sqrt(squares_s2 / periods - mean_s * mean_s);
  return {intervals.far_every * intervals.near_s / mean_s,
          4 * deviation_s / mean_s / std::sqrt(periods)};
}

TEST(TwoLevels, GoodputAgreesWithItsRulesPlayed) {
  for (const int far_every : {1, 2, 3, 10}) {
    const TwoLevelIntervals intervals{15, far_every};
    const Played played = play(kLevels, intervals, 500000);
    EXPECT_LT(played.error, 5e-3);
    EXPECT_NEAR(played.goodput / two_level_goodput(kLevels, intervals), 1, played.error)
        << far_every;
  }
}

TEST(TwoLevels, OptimumAgreesWithAGrid) {
  for (const double far_mtbf_s : {300.0, 900.0, 20000.0}) {
    TwoLevels levels = kLevels;
    levels.far_mtbf_s = far_mtbf_s;
    TwoLevelIntervals best;
    double best_goodput = 0;
    for (int far_every = 1; far_every <= 100; ++far_every) {
      for (double near_s = 1; near_s < 200; near_s *= 1.002) {
        const double goodput = two_level_goodput(levels, {near_s, far_every});
        if (goodput > best_goodput) {
          best_goodput = goodput;
          best = {near_s, far_every};
        }
      }
    }
    const TwoLevelIntervals optimum = two_level_optimum(levels);
    EXPECT_EQ(optimum.far_every, best.far_every);
    EXPECT_NEAR(optimum.near_s / best.near_s, 1, 1e-2);
    EXPECT_GE(two_level_goodput(levels, optimum), best_goodput);
    // First-order intervals are nearly optimal, and never better than the optimum.
    const double young = two_level_goodput(levels, two_level_young(levels));
    EXPECT_LE(young, best_goodput);
    EXPECT_GT(young, 0.98 * best_goodput);
  }
}

TEST(TwoLevels, YoungIsTheLimitOfRareFailures) {
  const TwoLevels levels{0.5, 8, 1e7, 1e8, 3, 12};
  const TwoLevelIntervals young = two_level_young(levels);
  const TwoLevelIntervals optimum = two_level_optimum(levels);
  EXPECT_DOUBLE_EQ(young.near_s, std::sqrt(1e7));
  EXPECT_EQ(young.far_every, 13);  // sqrt(16e8) / sqrt(1e7) = 12.65
  EXPECT_NEAR(optimum.near_s / young.near_s, 1, 0.1);
  EXPECT_NEAR(optimum.far_every, young.far_every, 1);
  // If far copies are cheaper than near ones, only far ones are taken.
  EXPECT_EQ(two_level_optimum({4, 4, 900, 100, 3, 12}).far_every, 1);
  EXPECT_EQ(two_level_young({4, 4, 900, 100, 3, 12}).far_every, 1);
}

}  // namespace
}  // namespace windtunnel

#include "models/reliability/failure_process.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <utility>

#include "models/base/units.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

int count_until(const FailureClass& failure_class, int nodes, std::uint64_t index, double end_s) {
  ArrivalStream stream(failure_class, nodes, 1, index);
  int count = 0;
  for (; stream.next_s() < end_s; stream.advance()) ++count;
  return count;
}

FailureClass with_shape(double shape) {
  FailureClass result;
  result.rate_per_node_s = 1.0 / 400;
  result.arrivals = shape == 1 ? Arrivals::exponential : Arrivals::weibull;
  result.weibull_shape = shape;
  return result;
}

// A job of 4 nodes fails every 100 s on average. Stationary streams have that mean count in any
// period. A stream that began with a whole gap would have, within 20 s, twice as many failures for
// shape 0.7 and a sixth for shape 2.
TEST(FailureProcess, MeanCountIsRateTimesNodesTimesTime) {
  constexpr int kStreams = 40000;
  for (const double shape : {1.0, 0.7, 2.0}) {
    for (const double length_s : {20.0, 1000.0}) {
      double sum = 0;
      double squares = 0;
      for (int i = 0; i < kStreams; ++i) {
        const double count = count_until(with_shape(shape), 4, i, length_s);
        sum += count;
        squares += count * count;
      }
      const double mean = sum / kStreams;
      const double error = std::sqrt((squares / kStreams - mean * mean) / kStreams);
      EXPECT_NEAR(mean, length_s / 100, 4 * error) << shape << " " << length_s;
      EXPECT_LT(4 * error, 0.06 * length_s / 100) << "too few streams to see a bias";
    }
  }
}

TEST(FailureProcess, GapsBelowShapeOneCluster) {
  // The variance of the count over its mean is 1 for exponential gaps. For others it tends to the
  // squared coefficient of variation of the gaps (Cox 1962): 2.14 for shape 0.7.
  double sum = 0;
  double squares = 0;
  constexpr int kStreams = 4000;
  for (int i = 0; i < kStreams; ++i) {
    const double count = count_until(with_shape(0.7), 4, i, 20000);
    sum += count;
    squares += count * count;
  }
  const double mean = sum / kStreams;
  const double squared_cv = std::tgamma(1 + 2 / 0.7) / std::pow(std::tgamma(1 + 1 / 0.7), 2) - 1;
  EXPECT_NEAR((squares / kStreams - mean * mean) / mean, squared_cv, 0.15 * squared_cv);
}

FailureClass with_gaps(std::vector<double> gaps_s) {
  FailureClass result;
  result.rate_per_node_s = 1.0 / 400;
  result.arrivals = Arrivals::empirical;
  result.gaps_s = std::move(gaps_s);
  return result;
}

// Recorded gaps keep their shape at another rate. A start falls into a gap with a probability
// proportional to its length: with gaps of 1 and 3 (mean 2, scaled to 50 and 150 s) three quarters
// of the first arrivals end a long gap, and the residual's mean is E[X^2] / 2 E[X] = 125 s.
TEST(FailureProcess, RecordedGapsAreScaledAndStationary) {
  const FailureClass recorded = with_gaps({3, 1, 3, 1});
  constexpr int kStreams = 40000;
  double first_s = 0;
  double count = 0;
  for (int i = 0; i < kStreams; ++i) {
    ArrivalStream stream(recorded, 4, 1, i);
    first_s += stream.next_s() / kStreams;
    const double before_s = stream.next_s();
    stream.advance();
    const double gap_s = stream.next_s() - before_s;
    EXPECT_TRUE(std::abs(gap_s - 50) < 1e-9 || std::abs(gap_s - 150) < 1e-9) << gap_s;
    count += count_until(recorded, 4, i, 70);
  }
  const double variance = 27 * 2500 / 6.0 - 62.5 * 62.5;
  EXPECT_NEAR(first_s, 62.5, 4 * std::sqrt(variance / kStreams));
  EXPECT_NEAR(count / kStreams, 0.7, 4 * std::sqrt(0.3 / kStreams));
}

TEST(FailureProcess, ZeroGapsComeTogether) {
  const FailureClass recorded = with_gaps({0, 0, 6});
  double count = 0;
  for (int i = 0; i < 20000; ++i) count += count_until(recorded, 4, i, 1000);
  EXPECT_NEAR(count / 20000, 10, 0.2);
}

TEST(FailureProcess, TheDailyCycleIsInvertedExactly) {
  RandomStream random(1, RandomPurpose::test, 0);
  for (int i = 0; i < 20000; ++i) {
    const double amplitude = i % 4 == 0 ? 0.999 : random.uniform();
    const double at_s = random.uniform() * 1e7;
    const double for_s = std::exp(25 * random.uniform() - 10);  // 45 us to 38 days
    const double to_s = wall_time_s(at_s, for_s, amplitude);
    ASSERT_GE(to_s, at_s);
    ASSERT_NEAR(operational_time_s(at_s, to_s, amplitude), for_s, 1e-12 * for_s + 1e-8);
  }
  EXPECT_EQ(wall_time_s(5, 7, 0), 12);
  EXPECT_NEAR(wall_time_s(3600, 86400, 0.7), 90000, 1e-9);  // over whole days the sine cancels
}

// From 0 h to 12 h the sine adds 2/pi of its amplitude on average; until 24 h it subtracts as much.
TEST(FailureProcess, ArrivalsFollowTheDay) {
  for (const double shape : {1.0, 0.7}) {
    FailureClass daily = with_shape(shape);
    daily.day_amplitude = 0.8;
    double morning = 0;
    double evening = 0;
    constexpr int kStreams = 400;
    for (int i = 0; i < kStreams; ++i) {
      const int half = count_until(daily, 4, i, 43200);
      morning += half;
      evening += count_until(daily, 4, i, 86400) - half;
    }
    const double swing = 0.8 * 2 / std::numbers::pi;
    EXPECT_NEAR(morning / kStreams / 432, 1 + swing, 0.01) << shape;
    EXPECT_NEAR(evening / kStreams / 432, 1 - swing, 0.01) << shape;
  }
}

TEST(FailureProcess, SpeedChangesTheMeanAndStopsTheStream) {
  for (const double amplitude : {0.0, 0.6}) {
    FailureClass changing = with_shape(0.7);
    changing.day_amplitude = amplitude;
    double early = 0;
    double late = 0;
    constexpr int kStreams = 2000;
    for (int i = 0; i < kStreams; ++i) {
      ArrivalStream stream(changing, 4, 1, i);
      // The stream runs at twice its rate for a day, stops for ten days, and runs at its rate for a
      // day.
      stream.set_speed(0, 2);
      for (; stream.next_s() < 86400; stream.advance()) ++early;
      stream.set_speed(86400, 0);
      EXPECT_TRUE(std::isinf(stream.next_s()));
      stream.set_speed(11 * 86400, 1);
      EXPECT_GT(stream.next_s(), 11 * 86400);
      for (; stream.next_s() < 12 * 86400; stream.advance()) ++late;
    }
    EXPECT_NEAR(early / kStreams, 2 * 864, 4) << amplitude;
    EXPECT_NEAR(late / kStreams, 864, 3) << amplitude;
  }
}

TEST(FailureProcess, AStreamThatNeverComesOrIsRecordedKeepsItsTimes) {
  const FailureClass never;
  ArrivalStream silent(never, 4, 1, 0);
  silent.set_speed(5, 0);
  silent.set_speed(6, 3);
  EXPECT_TRUE(std::isinf(silent.next_s()));
  FailureClass traced;
  traced.arrivals = Arrivals::trace;
  traced.trace_s = {7};
  ArrivalStream recorded(traced, 4, 1, 0);
  recorded.set_speed(5, 0);
  EXPECT_EQ(recorded.next_s(), 7);
}

TEST(FailureProcess, TheRateGrowsFasterThanTheJob) {
  FailureClass shared;
  shared.rate_per_node_s = 2;
  shared.rate_per_job_s = 5;
  EXPECT_EQ(job_rate_per_s(shared, 100), 205);
  shared.growth = 0.5;
  shared.growth_nodes = 25;
  EXPECT_EQ(job_rate_per_s(shared, 100), 405);
}

// Laws that were added later must not change the draws of earlier ones: the first arrivals of seed
// 1 stay.
TEST(FailureProcess, OldDrawsStay) {
  const FailureClass memoryless = with_shape(1);
  EXPECT_DOUBLE_EQ(ArrivalStream(memoryless, 4, 1, 0).next_s(), 66.807437309800392);
  const FailureClass clustered = with_shape(0.7);
  ArrivalStream weibull(clustered, 4, 1, 0);
  EXPECT_DOUBLE_EQ(weibull.next_s(), 88.199327668164756);
  weibull.advance();
  EXPECT_DOUBLE_EQ(weibull.next_s(), 298.57403056328792);
}

TEST(FailureProcess, TraceIsReplayedAndEnds) {
  FailureClass traced;
  traced.arrivals = Arrivals::trace;
  traced.trace_s = {0, 5, 5, 12.5};
  ArrivalStream stream(traced, 7, 1, 2);
  for (const double at_s : traced.trace_s) {
    EXPECT_EQ(stream.next_s(), at_s);
    stream.advance();
  }
  EXPECT_TRUE(std::isinf(stream.next_s()));
}

TEST(FailureProcess, TheMeanRateIsTheRateOrWhatTheTraceHas) {
  FailureClass failure_class;
  failure_class.rate_per_node_s = 0.5;
  EXPECT_EQ(mean_rate_per_s(failure_class, 4, 100), 2);
  failure_class.arrivals = Arrivals::trace;
  failure_class.trace_s = {0, 10, 50, 60};
  EXPECT_EQ(mean_rate_per_s(failure_class, 4, 50), 2 / 50.0);
  EXPECT_EQ(mean_rate_per_s(failure_class, 4, 100), 4 / 100.0);
}

TEST(FailureProcess, RateZeroNeverFails) {
  FailureClass never;
  EXPECT_TRUE(std::isinf(ArrivalStream(never, 10, 1, 0).next_s()));
  never.arrivals = Arrivals::weibull;
  never.weibull_shape = 0.7;
  EXPECT_TRUE(std::isinf(ArrivalStream(never, 10, 1, 0).next_s()));
}

TEST(FailureProcess, RepairsAreFixedOrDrawnEvenly) {
  RandomStream random(1, RandomPurpose::repair, 0);
  RepairTime repair;
  repair.fixed_s = 30;
  EXPECT_EQ(draw_repair_s(repair, random), 30);
  repair.empirical_s = {1, 2, 9};
  double sum_s = 0;
  for (int i = 0; i < 30000; ++i) sum_s += draw_repair_s(repair, random);
  EXPECT_NEAR(sum_s / 30000, 4, 5 * std::sqrt(38.0 / 3 / 30000));
}

TEST(FailureProcess, LogNormalRepairsHaveTheirMedianAndSigma) {
  RandomStream random(1, RandomPurpose::repair, 1);
  RepairTime repair;
  repair.lognormal_median_s = 3600;
  repair.lognormal_sigma = 1.2;
  constexpr int kDraws = 40000;
  int below = 0;
  int within = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double repair_s = draw_repair_s(repair, random);
    below += repair_s < 3600;
    within += std::abs(std::log(repair_s / 3600)) < 1.2;
  }
  EXPECT_NEAR(below / double{kDraws}, 0.5, 4 * 0.5 / std::sqrt(kDraws));
  EXPECT_NEAR(within / double{kDraws}, 0.6827, 4 * 0.466 / std::sqrt(kDraws));
}

TEST(FailureProcess, WhatCannotBeIsAnError) {
  const auto error = [](auto change) {
    FailureClass failure_class;
    failure_class.name = "gpu";
    change(failure_class);
    return error_of([&] { check_failure_class(failure_class); });
  };
  EXPECT_EQ(error([](FailureClass&) {}), "no error");
  EXPECT_EQ(error([](FailureClass& c) { c.rate_per_node_s = -1; }),
            "failure class 'gpu': the rate must be 0 or more");
  EXPECT_EQ(error([](FailureClass& c) { c.weibull_shape = 0; }),
            "failure class 'gpu': the Weibull shape must be more than 0");
  EXPECT_EQ(error([](FailureClass& c) {
              c.trace_s = {3, 2};
            }),
            "failure class 'gpu': the times of a trace must be 0 or more, in ascending order");
  EXPECT_EQ(error([](FailureClass& c) {
              c.repair.empirical_s = {3, -2};
            }),
            "failure class 'gpu': repair times must be 0 or more");
  const std::pair<std::function<void(FailureClass&)>, std::string> more[] = {
      {[](FailureClass& c) { c.rate_per_job_s = -1; }, "the rate of the job must be 0 or more"},
      {[](FailureClass& c) { c.growth = NAN; }, "the growth of the rate must be a number"},
      {[](FailureClass& c) { c.growth_nodes = 0; },
       "the number of nodes to which the rate applies must be more than 0"},
      {[](FailureClass& c) { c.day_amplitude = 1; },
       "the daily amplitude must be 0 or more and below 1"},
      {[](FailureClass& c) { c.frailty_variance = -0.1; },
       "the variance of the frailty must be 0 or more"},
      {[](FailureClass& c) {
         c.trace_s = {1, 2};
         c.trace_nodes = {3};
       },
       "the trace has 2 times and 1 nodes; there must be a node for each time"},
      {[](FailureClass& c) {
         c.trace_s = {1};
         c.trace_nodes = {-3};
       },
       "the nodes of a trace must be 0 or more"},
      {[](FailureClass& c) { c.gaps_s = {-1}; }, "recorded gaps must be 0 or more"},
      {[](FailureClass& c) {
         c.arrivals = Arrivals::empirical;
         c.gaps_s = {0, 0};
       },
       "empirical arrivals need recorded gaps, at least one of them above 0"},
      {[](FailureClass& c) { c.repair.lognormal_sigma = -1; },
       "median and sigma of a log-normal repair must be 0 or more"},
      {[](FailureClass& c) {
         c.batch_shares = {0.5, 0.4};
       },
       "the shares of batch sizes must be from 0 to 1 and sum to 1, not to 0.9"},
      {[](FailureClass& c) {
         c.batch_shares = {1.5, -0.5};
       },
       "the shares of batch sizes must be from 0 to 1 and sum to 1, not to 1"},
      {[](FailureClass& c) { c.slowdown = 0.9; }, "the slowdown must be 1 or more"},
      {[](FailureClass& c) { c.rollback_s = -1; }, "the rollback must be 0 or more"},
      {[](FailureClass& c) { c.corrupt_tier = -1; }, "the corrupt tier must be one of the tiers"},
      {[](FailureClass& c) { c.manual_share = 1.1; },
       "the share that needs a human must be from 0 to 1"},
  };
  for (const auto& [change, what] : more) {
    EXPECT_EQ(error(change), "failure class 'gpu': " + what);
  }
}

// Two of four nodes are taken at 100 s, one is returned at 160 s, three are taken at 300 s: the
// node that has been away longest is replaced first.
TEST(FailureProcess, CapacityIsWhatItTakesAndUntilWhen) {
  const auto of = [](double notice_s) {
    FailureClass result;
    result.notice_s = notice_s;
    set_capacity({0, 100, 160, 160, 300, 400, 500}, {4, 2, 2, 3, 0, 9, 3}, 4, result);
    return result;
  };
  const FailureClass at_once = of(0);
  EXPECT_EQ(at_once.trace_s, (std::vector<double>{100, 300, 500}));
  std::vector<std::vector<double>> until_s;
  for (const TakenNodes& taken : at_once.taken) until_s.push_back(taken.until_s);
  EXPECT_EQ(until_s, (std::vector<std::vector<double>>{{160, 400}, {400, 400, 400}, {kInfinity}}));
  EXPECT_NEAR(mean_batch(at_once), 2, 1e-12);
  // Notice can be given only to nodes that are there, which is not before 0, 160 and 400.
  EXPECT_EQ(of(120).trace_s, (std::vector<double>{0, 180, 400}));
  EXPECT_EQ(of(120).taken[2].from_s, 500);
  check_failure_class(of(120));
}

}  // namespace
}  // namespace windtunnel

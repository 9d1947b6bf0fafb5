#include "models/failure_process.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "models/base/error.hpp"

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

// A job of 4 nodes fails every 100 s on average. Stationary streams have that mean count over any
// length; one that starts with a whole gap would have, within 20 s, twice as many for shape 0.7 and
// a sixth for shape 2.
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
  // Variance of the count over its mean: 1 for exponential gaps, the squared coefficient of
  // variation of the gaps in the long run for others (Cox 1962): 2.14 for shape 0.7.
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

TEST(FailureProcess, WhatCannotBeIsAnError) {
  const auto error = [](auto change) {
    FailureClass failure_class;
    failure_class.name = "gpu";
    change(failure_class);
    try {
      check_failure_class(failure_class);
    } catch (const Error& thrown) {
      return std::string(thrown.what());
    }
    return std::string();
  };
  EXPECT_EQ(error([](FailureClass&) {}), "");
  EXPECT_EQ(error([](FailureClass& c) { c.rate_per_node_s = -1; }),
            "failure class 'gpu': the rate must be 0 or more");
  EXPECT_EQ(error([](FailureClass& c) { c.weibull_shape = 0; }),
            "failure class 'gpu': the Weibull shape must be more than 0");
  EXPECT_EQ(error([](FailureClass& c) {
              c.trace_s = {3, 2};
            }),
            "failure class 'gpu': the times of a trace must be 0 or more and ascend");
  EXPECT_EQ(error([](FailureClass& c) {
              c.repair.empirical_s = {3, -2};
            }),
            "failure class 'gpu': repair times must be 0 or more");
}

}  // namespace
}  // namespace windtunnel

#include "models/reliability/fault_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "models/base/units.hpp"
#include "models/reliability/fault_simulation.hpp"
#include "tests/support/error_of.hpp"
#include "traces/rows/fault_log.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

constexpr double kPer1000NodeDays = 1e-3 / kDay_s;

FaultLog infinitehbd() {
  return read_fault_logs(WINDTUNNEL_SOURCE_DIR "/tests/data/infinitehbd_faults.csv").at(0);
}

void expect_within(const FittedValue& fitted) {
  EXPECT_LT(fitted.low, fitted.value);
  EXPECT_GT(fitted.high, fitted.value);
}

// Expected values were published for the trace, or counted in it independently.
TEST(FaultFit, InfiniteHbdIsAsItIsKnown) {
  const FaultFit fit = fit_faults(infinitehbd());
  EXPECT_EQ(fit.faults, 584);
  EXPECT_EQ(fit.nodes, 400);
  EXPECT_NEAR(fit.rate_per_node_s.value / kPer1000NodeDays, 4.2, 0.05);
  EXPECT_NEAR(fit.gap_shape.value, 0.62, 0.005);
  EXPECT_NEAR(fit.gap_mean_s.value / kHour_s, 14.2, 0.05);
  EXPECT_DOUBLE_EQ(fit.zero_gap_share, 55 / 583.0);
  const std::vector<int> events = {499, 20, 5, 2, 0, 1, 0, 2};  // events by number of faults
  ASSERT_EQ(fit.batch_shares.size(), events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_NEAR(fit.batch_shares[i], events[i] / 529.0, 1e-12) << i + 1;
  }
  EXPECT_DOUBLE_EQ(fit.faults_in_batches.value, 85 / 584.0);
  EXPECT_NEAR(fit.repair_median_s.value / kHour_s, 22.16, 0.01);
  EXPECT_NEAR(fit.repair_lognormal_median_s.value / kHour_s, 15.0, 0.05);
  EXPECT_NEAR(fit.repair_lognormal_sigma.value, 2.52, 0.005);
  EXPECT_NEAR(fit.repair_mean_s / kDay_s, 5.535, 0.001);
  EXPECT_NEAR(fit.mean_nodes_down, 9.4, 0.2);
  EXPECT_EQ(fit.most_nodes_down, 35);
  EXPECT_EQ(fit.nodes_with_five, 33);
  EXPECT_EQ(fit.nodes_with_fault, 231);
  expect_within(fit.rate_per_node_s);
  expect_within(fit.gap_shape);
  expect_within(fit.gap_mean_s);
  expect_within(fit.faults_in_batches);
  expect_within(fit.repair_median_s);
  expect_within(fit.repair_lognormal_median_s);
  expect_within(fit.repair_lognormal_sigma);
  expect_within(fit.frailty_variance);
  // Faults per node spread far more than Poisson's law allows, so that the interval excludes 0.
  EXPECT_GT(fit.frailty_variance.low, 0.5);
}

// Reads a file of one number per line, without its comments.
std::vector<double> series(const std::string& path) {
  std::istringstream text(read_file(WINDTUNNEL_SOURCE_DIR "/scenarios/library/" + path));
  std::vector<double> values;
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with("#")) values.push_back(std::stod(line));
  }
  return values;
}

// The trace of the tests and the two columns of it in the library agree.
TEST(FaultFit, InfiniteHbdIsInStepWithTheLibrary) {
  const FaultLog log = infinitehbd();
  const std::vector<double> starts_h = series("arrivals/infinitehbd.csv");
  const std::vector<double> repairs_h = series("repairs/infinitehbd.csv");
  ASSERT_EQ(starts_h.size(), log.faults.size());
  ASSERT_EQ(repairs_h.size(), log.faults.size());
  for (std::size_t i = 0; i < log.faults.size(); ++i) {
    EXPECT_EQ(log.faults[i].start_s, starts_h[i] * kHour_s);
    EXPECT_EQ(log.faults[i].repair_s, repairs_h[i] * kHour_s);
  }
}

// A fit of simulated logs must return the parameters of the simulation, and 95 % intervals must
// hold them: in 190 of 200 logs, +- 3 standard deviations of 3.1. Streams are stationary, and the
// class has everything that a fit estimates.
TEST(FaultFit, IntervalsHoldTheTruth) {
  FailureClass truth;
  truth.rate_per_node_s = 5 * kPer1000NodeDays;
  truth.arrivals = Arrivals::weibull;
  truth.weibull_shape = 0.75;
  truth.frailty_variance = 0.8;
  truth.repair.lognormal_median_s = 6 * kHour_s;
  truth.repair.lognormal_sigma = 1.3;
  constexpr int kLogs = 200;
  int shape = 0;
  int frailty = 0;
  int median = 0;
  int lognormal_median = 0;
  int sigma = 0;
  int gap = 0;
  const auto holds = [](const FittedValue& fitted, double value) {
    return fitted.low <= value && value <= fitted.high;
  };
  for (int i = 0; i < kLogs; ++i) {
    const FaultLog log = simulate_faults({truth}, 300, 365 * kDay_s, 3, i);
    const FaultFit fit = fit_faults(log);
    shape += holds(fit.gap_shape, 0.75);
    frailty += holds(fit.frailty_variance, 0.8);
    median += holds(fit.repair_median_s, 6 * kHour_s);
    lognormal_median += holds(fit.repair_lognormal_median_s, 6 * kHour_s);
    sigma += holds(fit.repair_lognormal_sigma, 1.3);
    gap += holds(fit.gap_mean_s, 365 * kDay_s / double(log.faults.size()));
  }
  for (const int held : {shape, frailty, median, lognormal_median, sigma}) {
    EXPECT_GE(held, 180);
    EXPECT_LE(held, 199);
  }
  EXPECT_EQ(gap, kLogs);  // the log's own mean, less its two ends
}

// The interval of the rate allows for bursts: Poisson's interval would hold the truth in two thirds
// of the logs of shape 0.6.
TEST(FaultFit, TheRateOfBurstsIsLessCertain) {
  FailureClass bursts;
  bursts.rate_per_node_s = 5 * kPer1000NodeDays;
  bursts.arrivals = Arrivals::weibull;
  bursts.weibull_shape = 0.6;
  bursts.batch_shares = {0.9, 0, 0, 0.1};
  const double faults_per_node_s = bursts.rate_per_node_s * 1.3;
  int held = 0;
  int poisson = 0;
  for (int i = 0; i < 200; ++i) {
    const FaultFit fit = fit_faults(simulate_faults({bursts}, 300, 365 * kDay_s, 4, i));
    const FittedValue& rate = fit.rate_per_node_s;
    held += rate.low <= faults_per_node_s && faults_per_node_s <= rate.high;
    const double half = 1.96 / std::sqrt(fit.faults) * rate.value;
    poisson += std::abs(rate.value - faults_per_node_s) <= half;
  }
  EXPECT_GE(held, 170);  // the dispersion is itself estimated, from some 20 windows
  EXPECT_LE(poisson, 150);
}

TEST(FaultFit, EvenFaultsHaveTheExactPoissonInterval) {
  FaultLog log{"even", 1, 30 * kDay_s, {}};
  for (int i = 0; i < 10; ++i) log.faults.push_back({(1.5 + 3 * i) * kDay_s, 0, 0, ""});
  const FaultFit fit = fit_faults(log);
  // Garwood's interval for a count of 10 is 4.7954 to 18.3904.
  EXPECT_NEAR(fit.rate_per_node_s.low * log.span_s, 4.7954, 1e-4);
  EXPECT_NEAR(fit.rate_per_node_s.high * log.span_s, 18.3904, 1e-4);
  EXPECT_EQ(fit.dispersion, 1);
  EXPECT_EQ(fit.gap_shape.value, 0);  // equal gaps have no Weibull shape
  EXPECT_EQ(fit.repair_median_s.value, 0);
  EXPECT_EQ(fit.faults_in_batches.value, 0);
  EXPECT_NEAR(fit.faults_in_batches.high, 1 - std::pow(0.025, 0.1), 1e-12);
}

// Nodes have 3, 1 and 0 faults and no repairs. The likelihood's derivative l'(v) = 0, for counts c
// with mean m = 4/3, has the root of sum_{j < c} j/(1 + v j) + N (ln(1 + v m)/v^2 - (m + 1/v) m/(1
// + v m)), found here by bisection.
TEST(FaultFit, FrailtyIsTheNegativeBinomialsMaximum) {
  FaultLog log{"three", 3, 100, {}};
  for (const int node : {0, 1, 0, 0}) {
    log.faults.push_back({10.0 * double(log.faults.size() * log.faults.size()), 0, node, ""});
  }
  const double mean = 4.0 / 3;
  const auto slope = [&](double v) {
    return 1 / (1 + v) + 2 / (1 + 2 * v) +
           3 * (std::log1p(v * mean) / (v * v) - (mean + 1 / v) * mean / (1 + v * mean));
  };
  double low = 0.01;
  double high = 10;
  ASSERT_GT(slope(low), 0);
  ASSERT_LT(slope(high), 0);
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (slope(middle) > 0 ? low : high) = middle;
  }
  EXPECT_NEAR(fit_faults(log).frailty_variance.value, low, 1e-6);
  EXPECT_EQ(fit_faults(log).frailty_variance.low, 0);  // four faults are too few to prove frailty
}

TEST(FaultFit, ANodeThatIsDownTwiceIsDownOnce) {
  FaultLog log{"overlaps", 4, 100, {}};
  log.faults = {{0, 20, 1, ""}, {10, 20, 1, ""}, {20, 5, 2, ""}, {25, 5, 3, ""}, {90, 50, 0, ""}};
  const FaultFit fit = fit_faults(log);
  EXPECT_DOUBLE_EQ(fit.mean_nodes_down, (30 + 5 + 5 + 10) / 100.0);
  EXPECT_EQ(fit.most_nodes_down, 2);  // node 2 is repaired when node 3 fails
  EXPECT_DOUBLE_EQ(fit.repair_mean_s, 20);
}

TEST(FaultFit, ABatchIsOfDifferentNodes) {
  FaultLog log{"batches", 9, 1000, {}};
  log.faults = {{5, 1, 1, ""},    {5, 1, 2, ""},   {5.5, 1, 3, ""},
                {50, 1, 4, ""},   {50, 1, 4, ""},  {100, 1, -1, ""},
                {100, 1, -1, ""}, {200, 1, 5, ""}, {201.5, 1, 6, ""}};
  const FaultFit fit = fit_faults(log);
  ASSERT_EQ(fit.batch_shares.size(), 3U);
  EXPECT_DOUBLE_EQ(fit.batch_shares[0], 3 / 5.0);  // nodes 4 (twice), 5 and 6 alone
  EXPECT_DOUBLE_EQ(fit.batch_shares[1], 1 / 5.0);
  EXPECT_DOUBLE_EQ(fit.batch_shares[2], 1 / 5.0);
  EXPECT_DOUBLE_EQ(fit.faults_in_batches.value, 5 / 9.0);
  EXPECT_EQ(fault_events(log).size(), 5U);
  log.batch_window_s = 2;
  EXPECT_EQ(fault_events(log).size(), 4U);
}

TEST(FaultFit, LogsOfWhichLittleIsKnown) {
  FaultLog log{"starts", 0, 0, {}};
  for (const double start_s : {1000.0, 1010.0, 1500.0, 2000.0}) log.faults.push_back({start_s});
  const FaultFit fit = fit_faults(log);
  EXPECT_EQ(fit.nodes, 1);
  EXPECT_EQ(fit.span_s, 1000);
  EXPECT_EQ(fit.frailty_variance.value, 0);
  EXPECT_GT(fit.gap_shape.value, 0);
  check_failure_class(fitted_class(log, fit));
}

TEST(FaultFit, WhatCannotBeFittedIsAnError) {
  FaultLog log{"short", 0, 0, {{1, 0, 0, ""}, {2, 0, 0, ""}}};
  EXPECT_EQ(error_of([&] { fit_faults(log); }),
            "a fit needs 3 faults or more; the log 'short' has 2");
  log.faults = {{5, 0, 0, ""}, {5, 0, 1, ""}, {5, 0, 2, ""}};
  EXPECT_EQ(
      error_of([&] { fit_faults(log); }),
      "all faults of the log 'short' begin at the same time; give the length of the log as --days");
  log.nodes = 2;
  EXPECT_EQ(error_of([&] { fit_faults(log); }),
            "the log 'short' has a fault of node 2, but with 2 nodes, counted from 0, there is no "
            "such node");
  log.nodes = 3;
  log.span_s = kDay_s;
  log.faults.push_back({1.9 * kDay_s, 0, 0, ""});
  EXPECT_EQ(error_of([&] { fit_faults(log); }), "no error");  // "1 day" may be 1.9
  log.faults.push_back({2 * kDay_s, 0, 0, ""});
  EXPECT_EQ(error_of([&] { fit_faults(log); }),
            "the log 'short' has a fault 2.0 days after its start, but its stated length is 1.0 "
            "days; give its length as --days");
}

// With a stated length of the log a single fault gives a rate, where otherwise three are needed.
TEST(FaultFit, OneFaultInAKnownTimeHasARate) {
  FaultLog log{"month", 10, 30 * kDay_s, {{5 * kDay_s, 0, 3, ""}}};
  const FaultFit fit = fit_faults(log);
  EXPECT_NEAR(fit.rate_per_node_s.value * 300 * kDay_s, 1, 1e-12);
  EXPECT_NEAR(fit.rate_per_node_s.low * 300 * kDay_s, 0.0253, 1e-4);  // Poisson, count of 1
  EXPECT_NEAR(fit.rate_per_node_s.high * 300 * kDay_s, 5.572, 1e-3);
  EXPECT_EQ(fit.gap_mean_s.high, 0);  // too few
  check_failure_class(fitted_class(log, fit));
  log.watched_node_s = 100 * kDay_s;  // the nodes were in use for a third of it
  EXPECT_NEAR(fit_faults(log).rate_per_node_up_s / fit.rate_per_node_up_s, 3, 1e-9);
  log.faults.clear();
  EXPECT_EQ(error_of([&] { fit_faults(log); }),
            "a fit needs 1 fault or more; the log 'month' has 0");
}

// FT-HSDP (arXiv 2602.00277) reports 2.3e-3 failures per server-day at 4,096 servers, and one
// failure in 18 min at 12,288, where that rate would give 51 min.
TEST(FaultFit, FtHsdpFailsFasterThanItGrows) {
  FailureClass correlated;
  correlated.rate_per_node_s = 2.3e-3 / kDay_s;
  EXPECT_NEAR(1 / job_rate_per_s(correlated, 12288) / 60, 51, 0.1);
  correlated.growth_nodes = 4096;
  correlated.growth = fit_growth(4096, correlated.rate_per_node_s, 12288, 1 / (18 * 60.0) / 12288);
  EXPECT_NEAR(correlated.growth, 0.947, 0.001);
  EXPECT_NEAR(1 / job_rate_per_s(correlated, 12288) / 60, 18, 1e-9);
  EXPECT_NEAR(job_rate_per_s(correlated, 4096) * kDay_s, 2.3e-3 * 4096, 1e-9);
}

// Meta RSC-1 (HPCA'25) states a mean time to failure for all causes, and one for infrastructure
// only (6.5 per 1000 node-days), which it projects to larger jobs.
TEST(FaultFit, MetaRscHasTwoRates) {
  const auto mttf_h = [](const FailureClass& failure_class, int gpus) {
    return 1 / job_rate_per_s(failure_class, gpus / 8) / kHour_s;
  };
  FailureClass all_causes;
  all_causes.rate_per_node_s = std::sqrt(1 / (47.7 * kDay_s) / (7.9 * kHour_s * 128));
  EXPECT_NEAR(mttf_h(all_causes, 8) / 24, 47.7, 0.15 * 47.7);
  EXPECT_NEAR(mttf_h(all_causes, 1024), 7.9, 0.15 * 7.9);
  FailureClass infrastructure;
  infrastructure.rate_per_node_s = 6.5 * kPer1000NodeDays;
  EXPECT_NEAR(mttf_h(infrastructure, 16384), 1.8, 0.05);
  EXPECT_NEAR(mttf_h(infrastructure, 131072), 0.23, 0.005);
  // Each statement fails with the other rate.
  EXPECT_GT(mttf_h(infrastructure, 1024), 2 * 7.9);
  EXPECT_LT(mttf_h(all_causes, 16384), 1.8 / 2);
}

}  // namespace
}  // namespace windtunnel

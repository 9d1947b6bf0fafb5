#include "validate/accuracy/rows/validation_report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace windtunnel {
namespace {

ValidationRow row(const char* family, double measured, double predicted) {
  ValidationRow result;
  result.id = std::string(family) + ":1";
  result.family = family;
  result.metric = "time_s";
  result.measured = measured;
  result.predicted = result.low = result.high = predicted;
  return result;
}

TEST(ValidationReport, SumsUpAFamilyByHand) {
  ValidationReport report;
  report.rows = {row("a", 10, 11), row("a", 20, 18), row("a", 40, 40), row("b", 0, 0.5)};
  report.rows[0].low = 9;  // the interval covers the measured value
  report.rows[0].high = 12;
  report.rows[1].low = 17;  // the interval does not
  report.rows[1].high = 19;
  report.rows[0].baselines["half"] = 5;
  report.rows[1].baselines["half"] = 10;
  report.rows[2].baselines["half"] = 20;
  summarise_families(report, {{"a", "first"}});

  ASSERT_EQ(report.families.size(), 2U);
  const ValidationFamily& a = report.families[0];
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.note, "first");
  EXPECT_EQ(a.rows, 3);
  EXPECT_NEAR(a.mape, 0.2 / 3, 1e-12);  // 10 %, 10 %, 0
  EXPECT_NEAR(a.median_ape, 0.1, 1e-12);
  EXPECT_NEAR(a.p90_ape, 0.1, 1e-12);
  EXPECT_EQ(a.worst.measured, 10);
  EXPECT_NEAR(a.worst_difference, 2, 1e-12);
  EXPECT_NEAR(a.baselines.at("half"), 0.5, 1e-12);
  EXPECT_NEAR(*a.kendall_tau, 1, 1e-12);
  EXPECT_NEAR(*a.coverage90, 0.5, 1e-12);  // of the two rows that claim an interval

  // If nothing was measured, the error is absolute.
  const ValidationFamily& b = report.families[1];
  EXPECT_EQ(b.mape, 0.5);
  EXPECT_FALSE(b.kendall_tau.has_value());
  EXPECT_FALSE(b.coverage90.has_value());
}

TEST(ValidationReport, RankCorrelationCountsTies) {
  ValidationReport report;
  report.rows = {row("a", 1, 1), row("a", 1, 2), row("a", 2, 2), row("a", 3, 1)};
  summarise_families(report, {});
  // There are 6 pairs: 1 is tied in the measured and 2 in the predicted values; 1 is concordant and
  // 2 are discordant.
  EXPECT_NEAR(*report.families[0].kendall_tau, -1 / std::sqrt(5.0 * 4.0), 1e-12);
}

TEST(ValidationReport, WhatIsNotFiniteIsLeftOutWithTheReason) {
  const double infinity = std::numeric_limits<double>::infinity();
  ValidationReport report;
  report.rows = {row("a", 10, 11), row("a", 10, std::nan("")), row("a", 1e-300, 1e300),
                 row("a", 10, 12), row("a", 10, 10)};
  report.rows[0].baselines = {{"sometimes", 5}, {"never", std::nan("")}};
  report.rows[3].baselines = {{"sometimes", infinity}, {"never", infinity}};
  report.rows[4].high = infinity;
  summarise_families(report, {});
  ASSERT_EQ(report.rows.size(), 2U);
  ASSERT_EQ(report.skipped.size(), 3U);
  EXPECT_EQ(report.skipped[0].id, "a:1");
  EXPECT_NE(report.skipped[0].reason.find("not finite"), std::string::npos);
  ASSERT_EQ(report.families.size(), 1U);
  EXPECT_EQ(report.families[0].rows, 2);
  EXPECT_NEAR(report.families[0].mape, 0.15, 1e-12);
  EXPECT_EQ(report.families[0].baselines, (std::map<std::string, double>{{"sometimes", 0.5}}));
}

// There are two jobs; configuration x of the first was measured three times (median 10).
TEST(ValidationReport, RanksTheAlternativesOfOneJob) {
  ValidationReport report;
  const auto add = [&](const char* group, const char* configuration, double measured,
                       double predicted) {
    report.rows.push_back(row("a", measured, predicted));
    report.rows.back().group = group;
    report.rows.back().configuration = configuration;
  };
  add("first", "x", 10, 9);
  add("first", "x", 9, 9);
  add("first", "x", 30, 9);
  add("first", "y", 12, 8);   // predicted to be best, 20 % slower than x
  add("first", "z", 20, 25);  // ranked correctly with respect to both
  add("second", "x", 10, 5);
  add("second", "y", 10.5, 4);  // 5 % apart: no pair, but a regret
  add("alone", "x", 1, 1);
  report.rows.push_back(row("a", 1, 100));  // belongs to no group
  summarise_families(report, {});
  const auto& ranking = report.families[0].ranking;
  ASSERT_TRUE(ranking.has_value());
  EXPECT_EQ(ranking->groups, 2);
  EXPECT_EQ(ranking->pairs, 3);
  EXPECT_NEAR(*ranking->kendall_tau, 1.0 / 3, 1e-12);  // two right, one wrong
  EXPECT_NEAR(ranking->worst_regret, 0.2, 1e-12);
  EXPECT_NEAR(ranking->median_regret, 0.125, 1e-12);
}

TEST(ValidationReport, OfEquallyGoodPredictionsTheWorstCounts) {
  ValidationReport report;
  for (const double measured : {10.0, 15.0, 12.0}) {
    report.rows.push_back(row("a", measured, 7));
    report.rows.back().group = "one";
    report.rows.back().configuration = std::to_string(measured);
  }
  summarise_families(report, {});
  EXPECT_NEAR(report.families[0].ranking->worst_regret, 0.5, 1e-12);
  EXPECT_EQ(*report.families[0].ranking->kendall_tau, 0);
}

TEST(ValidationReport, FittedRowsAndLabelsAreCountedApart) {
  ValidationReport report;
  report.fitted = {row("a", 1, 1), row("a", 1, 1)};
  report.labels = {{"x:1", "a", true, true}, {"x:2", "a", true, false}, {"x:3", "a", false, true}};
  summarise_families(report, {});
  ASSERT_EQ(report.families.size(), 2U);
  EXPECT_EQ(report.families[0].metric, "time_s");
  EXPECT_EQ(report.families[0].rows, 0);
  EXPECT_EQ(report.families[0].fitted, 2);
  EXPECT_EQ(report.families[1].metric, "memory_bytes");
  EXPECT_EQ(report.families[1].out_of_memory->rows(), 3);
  EXPECT_EQ(report.families[1].out_of_memory->missed, 1);
}

TEST(ValidationReport, OneNameWithTwoMetricsIsTwoFamilies) {
  ValidationReport report;
  report.rows = {row("a", 1, 1), row("a", 1, 1)};
  report.rows[1].metric = "bytes";
  summarise_families(report, {});
  EXPECT_EQ(report.families.size(), 2U);
}

}  // namespace
}  // namespace windtunnel

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "models/base/random.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {
namespace {

ValidationRow row(const std::string& family, double measured, double predicted) {
  ValidationRow row;
  row.family = family;
  row.metric = "step_s";
  row.measured = measured;
  row.predicted = row.low = row.high = predicted;
  return row;
}

TEST(LeftOutIntervals, AFamilyDoesNotTellItsOwn) {
  ValidationReport report;
  report.rows = {row("bad", 1, 10), row("bad", 1, 10), row("good", 1, 1.01), row("fair", 1, 1.1)};
  add_left_out_intervals(report);
  // The interval of "bad" comes from the two other families, which have no such errors.
  EXPECT_GT(report.rows[0].low, report.rows[0].measured);
  // The intervals of the others allow for a family as bad as "bad".
  EXPECT_LT(report.rows[2].low, 0.2);
  EXPECT_DOUBLE_EQ(report.rows[2].high / 1.01, 1.01 / report.rows[2].low);
}

TEST(LeftOutIntervals, NeedTwoOtherFamiliesOfTheMetric) {
  ValidationReport report;
  report.rows = {row("a", 1, 1.1), row("b", 1, 1.2)};
  report.rows.push_back(row("c", 1, 1.3));
  report.rows.back().metric = "memory_bytes";
  add_left_out_intervals(report);
  for (const ValidationRow& each : report.rows) EXPECT_EQ(each.low, each.high);
}

TEST(LeftOutIntervals, KeepThoseThatArePredictedAndSkipWhatHasNoLogarithm) {
  ValidationReport report;
  report.rows = {row("a", 1, 1.1), row("b", 1, 1.2), row("c", 1, 1.3), row("d", 0, 1)};
  report.rows[0].low = 0.5;
  add_left_out_intervals(report);
  EXPECT_EQ(report.rows[0].low, 0.5);
  EXPECT_EQ(report.rows[3].low, report.rows[3].high);
}

// 40 families of 5 rows have normally distributed biases: nine tenths of the rows are inside.
TEST(LeftOutIntervals, CoverWhatTheyPromise) {
  RandomStream random(7, RandomPurpose::kernel_jitter, 0);
  int inside = 0;
  int all = 0;
  for (int draw = 0; draw < 20; ++draw) {
    ValidationReport report;
    for (int family = 0; family < 40; ++family) {
      const double bias = 0.2 * random.normal();
      for (int i = 0; i < 5; ++i) {
        report.rows.push_back(
            row(std::to_string(family), 1, std::exp(bias + 0.1 * random.normal())));
      }
    }
    add_left_out_intervals(report);
    for (const ValidationRow& each : report.rows) {
      inside += each.low <= 1 && 1 <= each.high;
      ++all;
    }
  }
  EXPECT_NEAR(static_cast<double>(inside) / all, 0.9, 0.025);
}

}  // namespace
}  // namespace windtunnel

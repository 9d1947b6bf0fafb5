#include "validate/accuracy/schedules/schedule_accuracy.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

const std::string kData = WINDTUNNEL_SOURCE_DIR "/tests/data/";

const ValidationFamily& family(const ValidationReport& report, const std::string& name,
                               const std::string& metric) {
  for (const ValidationFamily& family : report.families) {
    if (family.name == name && family.metric == metric) return family;
  }
  throw std::runtime_error("no family " + name + " " + metric);
}

std::string write_file(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

TEST(ValidateSchedules, PublishedRatesAgreeToFourDecimals) {
  const ValidationReport report = validate_schedules({kData + "zero_bubble_rates.csv"});
  EXPECT_TRUE(report.skipped.empty());
  EXPECT_EQ(report.rows.size(), 72U);
  for (const char* schedule : {"1f1b", "zb-h1", "zb-h2", "zb-1p", "zb-2p"}) {
    const ValidationFamily& rates = family(report, schedule, "bubble_rate");
    EXPECT_EQ(rates.rows, 12) << schedule;
    // The published rates are rounded to 4 decimals.
    EXPECT_LE(rates.worst_difference, 0.5e-4 + 1e-9) << schedule << " " << rates.worst.id;
    EXPECT_GT(rates.kendall_tau.value(), 0.99) << schedule;
    // Predictions without messages are visibly wrong, so the check can fail.
    EXPECT_GT(rates.baselines.at("closed formula without messages"), 0.02) << schedule;
  }
}

TEST(ValidateSchedules, InterleavedRatesDifferByOneRingOfMessages) {
  const ValidationReport report = validate_schedules({kData + "zero_bubble_rates.csv"});
  const ValidationFamily& rates = family(report, "interleaved-1f1b", "bubble_rate");
  EXPECT_EQ(rates.rows, 12);
  EXPECT_FALSE(rates.note.empty());
  EXPECT_GT(rates.worst_difference, 1e-3);
  for (const ValidationRow& row : report.rows) {
    if (row.family != "interleaved-1f1b") continue;
    EXPECT_NEAR(row.baselines.at("replay, minus p message times"), row.measured, 0.5e-4 + 1e-9)
        << row.id;
    EXPECT_GT(row.predicted, row.measured) << row.id;
  }
}

TEST(ValidateSchedules, RatesOfOtherSchedulesAreSkippedWithTheReason) {
  const std::string path = write_file("other_rates.csv",
                                      "model,p,m,T_F_ms,T_B_ms,T_W_ms,T_comm_ms,bubble_SWARM,"
                                      "bubble_1F1B_I,bubble_ZB_2p\n"
                                      "x,4,8,1,1,1,0.1,0.1,0.1,0.1\n");
  const ValidationReport report = validate_schedules({path});
  ASSERT_EQ(report.skipped.size(), 2U);
  EXPECT_EQ(report.skipped[0].id, path + ":2");
  EXPECT_EQ(report.skipped[0].reason, "bubble_SWARM: schedule 'SWARM' is not in this build");
  EXPECT_EQ(report.skipped[1].reason,
            "bubble_1F1B_I: the chunks per rank of model 'x' are unknown");
  EXPECT_EQ(report.rows.size(), 1U);
}

TEST(ValidateSchedules, ExecutorRowsAgreeTo1em9) {
  const ValidationReport report = validate_schedules({kData + "schedule_oracle.csv"});
  EXPECT_TRUE(report.skipped.empty());
  EXPECT_EQ(report.families.size(), 10U * 5);
  EXPECT_EQ(report.rows.size(), 510U * 5);
  for (const ValidationFamily& family : report.families) {
    EXPECT_GE(family.rows, 28) << family.name;
    EXPECT_LE(family.worst_difference, 1e-9)
        << family.name << " " << family.metric << " " << family.worst.id;
  }
}

TEST(ValidateSchedules, ImpossibleRowsAreSkippedAndUnknownColumnsRejected) {
  const std::string header =
      "schedule,p,m,v,T_F,T_I,T_W,T_comm,makespan,max_stage_span,makespan_minus_max_busy,"
      "peak_act_max,peak_act_per_rank\n";
  const std::string path =
      write_file("impossible.csv", header +
                                       "interleaved,2,2,1,1,1,1,0,9,9,3,2,2 1\n"
                                       "1f1b,2,2,1,1,-1,1,0,9,9,3,2,2 1\n"
                                       "swarm,2,2,2,1,1,1,0,9,9,3,2,2 1\n"
                                       "1f1b,2000000000,2,1,1,1,1,0,9,9,3,2,2 1\n"
                                       "1f1b,-2,2,1,1,1,1,0,9,9,3,2,2 1\n");
  const ValidationReport report = validate_schedules({path});
  EXPECT_TRUE(report.rows.empty());
  ASSERT_EQ(report.skipped.size(), 5U);
  EXPECT_EQ(report.skipped[0].id, path + ":2");
  EXPECT_EQ(report.skipped[1].reason, "a time is negative");
  EXPECT_EQ(report.skipped[2].reason, "schedule 'swarm' is not in this build");
  EXPECT_NE(report.skipped[3].reason.find("too large"), std::string::npos);
  EXPECT_NE(report.skipped[4].reason.find("at least 1 rank"), std::string::npos);

  const std::string short_peaks =
      write_file("short_peaks.csv", header + "1f1b,2,2,1,1,1,1,0,9,9,3,2,2\n");
  // A cell that cannot be read is listed by its place, and the rows of other files are judged.
  const ValidationReport both = validate_schedules({short_peaks, kData + "schedule_oracle.csv"});
  EXPECT_FALSE(both.rows.empty());
  ASSERT_FALSE(both.skipped.empty());
  EXPECT_EQ(both.skipped[0].id, short_peaks + ":2:13");
  EXPECT_EQ(both.skipped[0].reason, "column 'peak_act_per_rank' must hold 2 numbers");
  EXPECT_THROW(validate_schedules({write_file("other.csv", "a,b\n1,2\n")}), Error);
}

TEST(ValidateSchedules, RatesWithoutRanksAreSkipped) {
  const ValidationReport report =
      validate_schedules({write_file("no_ranks.csv",
                                     "model,p,m,T_F_ms,T_B_ms,T_W_ms,T_comm_ms,bubble_1F1B_I\n"
                                     "1.5B,0,8,1,1,1,0,0.5\n"
                                     "1.5B,8,8,1,1,1,0,0.5\n")});
  ASSERT_EQ(report.skipped.size(), 1U);
  EXPECT_EQ(report.skipped[0].reason,
            "bubble_1F1B_I: the chunks per rank of model '1.5B' are unknown");
  EXPECT_EQ(report.rows.size(), 1U);
}

TEST(ValidateSchedules, AFileWithoutRowsIsAnErrorAndInfinitePeaksAreSkipped) {
  const std::string header =
      "schedule,p,m,v,T_F,T_I,T_W,T_comm,makespan,max_stage_span,makespan_minus_max_busy,"
      "peak_act_max,peak_act_per_rank\n";
  EXPECT_THROW(validate_schedules({write_file("no_rows.csv", header)}), Error);
  const ValidationReport report = validate_schedules(
      {write_file("infinite_peaks.csv", header + "1f1b,2,2,1,1,1,1,0,9,9,3,2,inf 1\n")});
  EXPECT_TRUE(report.rows.empty());
  EXPECT_EQ(report.skipped.size(), 1U);
}

TEST(ValidateSchedules, TimesTooLongToAddAreSkipped) {
  const std::string path = write_file("too_long.csv",
                                      "model,p,m,T_F_ms,T_B_ms,T_W_ms,T_comm_ms,bubble_1F1B\n"
                                      "x,2,1000,1e308,1e308,1e308,0,0.5\n"
                                      "x,2,8,0,0,0,0,0.5\n");
  const ValidationReport report = validate_schedules({path});
  ASSERT_EQ(report.skipped.size(), 1U);
  EXPECT_EQ(report.skipped[0].id, path + ":2");
  // A schedule without work has no bubble; the closed formula would divide by zero.
  ASSERT_EQ(report.families.size(), 1U);
  EXPECT_EQ(report.families[0].rows, 1);
  EXPECT_TRUE(report.families[0].baselines.empty());
}

}  // namespace
}  // namespace windtunnel

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "models/base/error.hpp"
#include "tests/support/error_of.hpp"
#include "validate/accuracy/runs/run_job.hpp"
#include "validate/accuracy/runs/runs.hpp"
#include "validate/accuracy/schedules/printed_schedule.hpp"

namespace windtunnel {
namespace {

const std::string kData = std::string(WINDTUNNEL_SOURCE_DIR) + "/tests/data/";

ValidationReport zero_bubble_report() {
  return validate_profiled_runs({read_training_runs(kData + "zero_bubble_runs.csv")},
                                {read_stage_profiles(kData + "zero_bubble_rates.csv")}, {});
}

const ValidationFamily& family(const ValidationReport& report, const std::string& name) {
  for (const ValidationFamily& at : report.families) {
    if (at.name == name) return at;
  }
  throw Error("no family " + name);
}

// If a paper states two schedules (arXiv 2401.10241, tables 4 and 12), predictions must tell which
// is faster, and by how much.
TEST(ProfiledRuns, TellsSchedulesApart) {
  const ValidationReport report = zero_bubble_report();
  EXPECT_TRUE(report.skipped.empty());
  const std::string of_four = "Zero Bubble Table 4 / A100-SXM-80GB speed_ratio";
  const ValidationFamily& four = family(report, of_four);
  EXPECT_EQ(four.rows, 36);
  EXPECT_LT(four.mape, 0.02);
  EXPECT_LT(four.mape, four.baselines.at("only published bubble rates") / 2);
  EXPECT_THAT(four.note, ::testing::HasSubstr("is predicted correctly in 31 of 31 pairs"));
  EXPECT_THAT(four.note, ::testing::HasSubstr("only published bubble rates: 28 of 31"));
  const ValidationFamily& twelve =
      family(report, "Zero Bubble Table 12 / A100-SXM-80GB speed_ratio");
  EXPECT_EQ(twelve.rows, 6);
  EXPECT_THAT(twelve.note, ::testing::HasSubstr("is predicted correctly in 6 of 6 pairs"));
  EXPECT_LT((36 * four.mape + 6 * twelve.mape) / 42, 0.02);
  EXPECT_LT(four.worst.relative_error(), 0.04);
  EXPECT_LT(twelve.worst.relative_error(), 0.04);
}

TEST(ProfiledRuns, FilesThatDoNotMatchSayWhy) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("profile" + std::to_string(getpid()) + ".csv"))
          .string();
  std::ofstream(path) << "model,p,m,T_F_ms,T_B_ms,T_W_ms,T_comm_ms\n1.5B,4,8,1,1,1,0.1\n";
  EXPECT_TRUE(holds_stage_profiles(path));
  const ValidationReport report = validate_profiled_runs(
      {read_training_runs(kData + "zero_bubble_runs.csv")}, {read_stage_profiles(path)}, {});
  EXPECT_TRUE(report.rows.empty());
  ASSERT_EQ(report.skipped.size(), 36u);
  EXPECT_EQ(report.skipped[0].reason, "there is no profile of model '1.5B' on 8 stages");
  std::ofstream(path) << "model,p,m,T_F_ms,T_B_ms,T_W_ms,T_comm_ms\n1.5B,4,8,1,-1,1,0.1\n";
  EXPECT_EQ(error_of([&] { read_stage_profiles(path); }),
            path + ":2:5: column 'T_B_ms': a time is negative");
  std::filesystem::remove(path);
  EXPECT_FALSE(holds_stage_profiles(kData + "zero_bubble_runs.csv"));
}

// By hand, the step has 2 stages, 2 micro-batches, F = I = W = 1 s, and messages of 0.5 s that
// block their sender.
TEST(ProfiledRuns, StepIsTheScheduleAndTheOptimizer) {
  TrainingRuns runs = read_training_runs(kData + "zero_bubble_runs.csv");
  Job job = job_of(runs.runs.front()).job;
  job.schedule.name = "1f1b";
  job.software.post_validation = false;
  job.software.sends = Sends::blocking;
  job.layout.pp = 2;
  // The two stages differ only by a head of 128 words.
  job.layout.stage_layers = {11, 11};
  job.model.vocabulary = 1;
  job.batch.global = 2 * job.batch.micro;
  const StageProfile profile{0, "", 2, 2, 1, 1, 1, 0.5};
  const double step_s = profiled_step_s(job, profile);
  // Rank 0 runs F0, a message (0.5 s), F1, a message, ... Rank 1 runs F0 from 1.5 s, B0 until 4.5
  // s, a message, F1, B1 until 8 s, a message. B1 of rank 0 ends at 10.5 s.
  StageProfile slower = profile;
  slower.message_s = 0;
  EXPECT_GT(step_s, 10.4);
  EXPECT_LT(step_s, 10.5 + 0.1);  // the optimizer takes some time
  EXPECT_NEAR(profiled_step_s(job, slower), step_s - 1.5, 0.01);
}

TEST(PrintedSchedule, NamesOfTables) {
  EXPECT_EQ(printed_schedule("1F1B")->name, "1f1b");
  EXPECT_EQ(printed_schedule("1F1B_I")->name, "interleaved-1f1b");
  EXPECT_EQ(printed_schedule("ZB-2p*")->name, "zb-2p");
  EXPECT_TRUE(printed_schedule("ZB-V")->post_validation);
  EXPECT_FALSE(printed_schedule("ZB-2p (all-reduce optimizer sync)")->post_validation);
  EXPECT_FALSE(printed_schedule("1F1B")->post_validation);
  EXPECT_FALSE(printed_schedule("none of them"));
}

}  // namespace
}  // namespace windtunnel

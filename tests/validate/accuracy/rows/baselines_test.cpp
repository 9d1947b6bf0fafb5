#include "validate/accuracy/rows/baselines.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

constexpr const char* kMfuLearned = "6ND at the MFU of the fit rows";
constexpr const char* kMfuSeen = "6ND at the MFU of these rows";
constexpr const char* kRegression = "quadratic regression of the fit rows";

// Returns the time of 6 N D of the job's batch at the peak of its GPUs (100 TFLOP/s each).
double peak_s(const Job& job) {
  return 6 * job.model.parameters() * job.batch.global * job.batch.sequence /
         (job.layout.ranks() * 100e12);
}

TEST(Baselines, TheMfuIsTheMedianOfTheRowsToLearnFrom) {
  const Job job = small_job(2, 2, 2);
  const double ideal_s = peak_s(job);
  // Rows to learn from have MFU 0.5, 0.4 and 0.1 in family a. Family b has no such rows, so that it
  // uses the rows of a.
  const auto predicted = step_baselines({{&job, ideal_s / 0.5, "a", true},
                                         {&job, ideal_s / 0.1, "a", true},
                                         {&job, ideal_s / 0.4, "a", true},
                                         {&job, 1, "a", false},
                                         {&job, 1, "b", false}});
  ASSERT_EQ(predicted.size(), 5U);
  EXPECT_TRUE(predicted[0].empty());
  EXPECT_NEAR(predicted[3].at(kMfuLearned), ideal_s / 0.4, 1e-12 * ideal_s);
  EXPECT_NEAR(predicted[4].at(kMfuLearned), ideal_s / 0.4, 1e-12 * ideal_s);
  EXPECT_EQ(predicted[3].size(), 1U);  // too few rows for a regression
}

TEST(Baselines, WithoutRowsToLearnFromTheNameSaysSo) {
  const Job job = small_job(2, 2, 2);
  const double ideal_s = peak_s(job);
  const auto predicted =
      step_baselines({{&job, ideal_s / 0.5, "a", false}, {&job, ideal_s / 0.25, "a", false}});
  EXPECT_NEAR(predicted[0].at(kMfuSeen), ideal_s / 0.375, 1e-12 * ideal_s);
  EXPECT_EQ(predicted[0].count(kMfuLearned), 0U);
}

TEST(Baselines, OnlyTheExpertsThatATokenMeetsCount) {
  Job job = small_job(1, 1, 1);
  job.model.moe = {.experts = 8, .per_token = 2, .ffn_hidden = 4096};
  Job dense = small_job(1, 1, 1);
  const double active =
      job.model.parameters() - job.model.layers * 6 * job.model.expert_parameters();
  const auto predicted =
      step_baselines({{&dense, peak_s(dense), "a", true}, {&job, 1, "a", false}});
  EXPECT_NEAR(predicted[1].at(kMfuLearned) / peak_s(job), active / job.model.parameters(), 1e-12);
}

TEST(Baselines, AGpuWithoutThePrecisionHasNoPeak) {
  Job job = small_job(1, 1, 1);
  job.precision = Precision::fp8;
  EXPECT_TRUE(step_baselines({{&job, 1, "a", false}})[0].empty());
}

// Step times that are quadratic in the logarithms are learned exactly and extrapolated.
TEST(Baselines, TheRegressionFindsAQuadraticLaw) {
  std::vector<Job> jobs;
  for (const int tp : {1, 2, 4}) {
    for (const int pp : {1, 2, 4}) {
      for (const int dp : {1, 2, 8}) {
        for (const int micro : {1, 2, 4}) {
          Job job = small_job(tp, pp, dp);
          job.batch = {16 * dp * micro, micro, 1024};
          jobs.push_back(job);
        }
      }
    }
  }
  const auto law_s = [](const Job& job) {
    const double gpus = std::log(job.layout.ranks());
    const double tp = std::log(job.layout.tp);
    return std::exp(0.3 + 0.9 * std::log(peak_s(job)) + 0.1 * gpus * tp - 0.05 * tp * tp);
  };
  std::vector<BaselineRow> rows;
  for (const Job& job : jobs) rows.push_back({&job, law_s(job), "a", true});
  Job far = small_job(8, 2, 4);
  far.batch = {128, 2, 1024};
  rows.push_back({&far, 1, "a", false});
  rows.push_back({&far, 1, "b", false});
  const auto predicted = step_baselines(rows);
  EXPECT_NEAR(predicted[jobs.size()].at(kRegression), law_s(far), 1e-6 * law_s(far));
  EXPECT_EQ(predicted.back().count(kRegression), 0U);
}

}  // namespace
}  // namespace windtunnel

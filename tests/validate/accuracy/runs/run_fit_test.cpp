#include "validate/accuracy/runs/run_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "models/base/error.hpp"
#include "models/base/quantile.hpp"
#include "models/base/random.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

Parameter assumed(double value, double low, double high) {
  return {value, low, high, Origin::assumed, "a guess"};
}

Calibration prior_calibration() {
  Calibration calibration;
  calibration.name = "prior";
  for (const CalibrationField& field : calibration_fields()) {
    calibration.*field.member = assumed(1, 1, 1);
  }
  calibration.kernel_sustained = assumed(0.8, 0.6, 0.92);
  calibration.collective_launch_s = assumed(20e-6, 5e-6, 80e-6);
  calibration.nic_latency_s = assumed(5e-6, 2e-6, 10e-6);
  calibration.step_error = assumed(0.15, 0.08, 0.3);
  calibration.memory_error = calibration.step_error;
  return calibration;
}

// Returns a step in closed form: work at a share of peak speed and a collective per layer,
// independent of the NICs.
double toy_step_s(const Job& job) {
  const Calibration& calibration = job.calibration;
  const double work_s = 1e-3 * job.model.layers * job.model.hidden / job.layout.dp;
  return work_s / calibration.kernel_sustained.value +
         calibration.collective_launch_s.value * 1e3 * job.model.layers;
}

FitOptions toy_options() {
  FitOptions options;
  options.predict_s = toy_step_s;
  options.threads = 1;
  return options;
}

FitRow make_row(int layers, int hidden, int gpus, double measured_factor,
                const std::string& group) {
  FitRow row;
  row.job.model.layers = layers;
  row.job.model.hidden = hidden;
  row.job.layout.dp = gpus;
  row.job.calibration = prior_calibration();
  row.job.calibration.kernel_sustained.value = 0.7;
  row.job.calibration.collective_launch_s.value = 40e-6;
  row.measured_s = toy_step_s(row.job) * measured_factor;
  row.group = group;
  row.id = "rows.csv:2";
  return row;
}

// Makes rows for 4 models x 4 cluster sizes, with a spread of 5 %.
std::vector<FitRow> make_rows(std::uint64_t index, double spread = 0.05) {
  RandomStream random(31, RandomPurpose::test, index);
  std::vector<FitRow> rows;
  for (const int layers : {12, 24, 36, 48}) {
    for (const int gpus : {8, 16, 32, 64}) {
      rows.push_back(make_row(layers, 64 * layers, gpus, std::exp(spread * random.normal()), "a"));
    }
  }
  return rows;
}

TEST(RunFit, FindsTheParametersAndSaysWhatTheyRestOn) {
  FitOptions options = toy_options();
  options.source = "rows.csv";
  const RunFit fit = fit_runs(make_rows(0), prior_calibration(), options);
  ASSERT_EQ(fit.fitted.size(), 2u);
  EXPECT_TRUE(fit.converged);
  for (const double Parameter::*end : {&Parameter::low, &Parameter::high}) {
    EXPECT_GT(fit.calibration.kernel_sustained.*end, 0.6);
    EXPECT_LT(fit.calibration.kernel_sustained.*end, 0.8);
  }
  EXPECT_NEAR(fit.calibration.collective_launch_s.value, 40e-6, 8e-6);
  EXPECT_EQ(fit.calibration.kernel_sustained.origin, Origin::published);
  EXPECT_EQ(fit.calibration.kernel_sustained.source, "fitted on 16 rows of 1 source, rows.csv");
  options.origin = Origin::measured;  // measured by the user, and so are fitted numbers
  const RunFit measured = fit_runs(make_rows(0), prior_calibration(), options);
  EXPECT_EQ(measured.calibration.kernel_sustained.origin, Origin::measured);
  EXPECT_LT(fit.median_ape_after, fit.median_ape_before);
  // Numbers without influence stay as they were.
  EXPECT_EQ(fit.without_influence, std::vector<std::string_view>{"nic.latency"});
  EXPECT_EQ(fit.calibration.nic_latency_s.source, "a guess");
}

TEST(RunFit, TheSameForAnyNumberOfThreads) {
  FitOptions options = toy_options();
  const RunFit one = fit_runs(make_rows(0), prior_calibration(), options);
  for (const int threads : {2, 7, 0}) {
    options.threads = threads;
    const RunFit many = fit_runs(make_rows(0), prior_calibration(), options);
    for (const CalibrationField& field : calibration_fields()) {
      const Parameter& a = one.calibration.*field.member;
      const Parameter& b = many.calibration.*field.member;
      EXPECT_EQ(a.value, b.value) << field.name;
      EXPECT_EQ(a.low, b.low) << field.name;
      EXPECT_EQ(a.high, b.high) << field.name;
    }
  }
}

// Rows of one kind of cluster cannot separate speed from latency: the prior still decides, and the
// number keeps the prior's origin.
TEST(RunFit, NumbersThatRestOnThePriorKeepItsOrigin) {
  std::vector<FitRow> rows;
  for (int i = 0; i < 4; ++i) rows.push_back(make_row(12, 65536, 8, 1, "a"));
  const RunFit fit = fit_runs(rows, prior_calibration(), toy_options());
  EXPECT_EQ(fit.calibration.collective_launch_s.origin, Origin::assumed);
  EXPECT_NE(fit.calibration.collective_launch_s.source.find("a guess"), std::string::npos);
  EXPECT_NEAR(fit.calibration.collective_launch_s.value, 20e-6, 1e-6);
}

// 225 rows of one source say the opposite of 9 rows of another. Sources weigh by the root of their
// number of rows, 15 to 3, and both together as (15 + 3)^2 / (1 + 1) = 162 rows: 135 and 27
// independent rows.
TEST(RunFit, ManyRowsOfASourceDoNotDrownTheOther) {
  FitOptions options = toy_options();
  options.only = {"kernel.sustained"};
  options.flat_prior = true;
  const auto fitted = [&](int many, int few, const std::string& other) {
    std::vector<FitRow> rows;
    for (int i = 0; i < many; ++i) rows.push_back(make_row(12, 65536, 8, 1.05, "a"));
    for (int i = 0; i < few; ++i) rows.push_back(make_row(12, 65536, 8, 0.95, other));
    return fit_runs(rows, prior_calibration(), options).calibration.kernel_sustained.value;
  };
  EXPECT_NEAR(fitted(225, 9, "b"), fitted(135, 27, "a"), 1e-5);
  EXPECT_GT(std::abs(fitted(225, 9, "b") - fitted(225, 9, "a")), 2e-3);
}

TEST(RunFit, UnusableRowsAreListedWithTheReason) {
  std::vector<FitRow> rows = make_rows(0);
  rows[3].measured_s = 0;
  rows[5].job.model.hidden = -1;
  FitOptions options = toy_options();
  options.predict_s = [](const Job& job) {
    if (job.model.hidden < 0) throw Error("which is not in the library");
    return toy_step_s(job);
  };
  const RunFit fit = fit_runs(rows, prior_calibration(), options);
  EXPECT_EQ(fit.rows, 14);
  ASSERT_EQ(fit.unusable.size(), 2u);
  EXPECT_EQ(fit.unusable[0].reason, "measured step time 0 s");
  EXPECT_EQ(fit.unusable[1].reason, "which is not in the library");
  EXPECT_THROW(fit_runs({rows[3]}, prior_calibration(), options), Error);
  EXPECT_THROW(fit_runs({}, prior_calibration(), options), Error);
}

TEST(RunFit, OnlyAndFixedChooseTheParameters) {
  FitOptions options = toy_options();
  options.only = {"kernel.sustained"};
  EXPECT_EQ(fit_runs(make_rows(0), prior_calibration(), options).fitted.size(), 1u);
  options.only = {};
  options.fixed = {"kernel.sustained"};
  const RunFit fit = fit_runs(make_rows(0), prior_calibration(), options);
  ASSERT_EQ(fit.fitted.size(), 1u);
  EXPECT_EQ(fit.fitted[0].name, "collective.launch");
  EXPECT_EQ(fit.calibration.kernel_sustained.value, 0.8);
  options.fixed = {"kernel.sustaned"};
  EXPECT_TRUE(
      fails([&] { fit_runs(make_rows(0), prior_calibration(), options); }, "'kernel.sustained'"));
  options.fixed = {};
  options.only = {"pcie.efficiency"};  // it states no interval
  EXPECT_THROW(fit_runs(make_rows(0), prior_calibration(), options), Error);
}

TEST(RunFit, OnePointIsDrawnTowardsItsRow) {
  const FitRow row = make_row(24, 4096, 16, 1.07, "a");
  const RunFit fit = fit_one_point(row, prior_calibration(), toy_options());
  ASSERT_EQ(fit.fitted.size(), 1u);
  Job job = row.job;
  job.calibration = fit.calibration;
  const double drawn = std::abs(std::log(toy_step_s(job) / row.measured_s));
  job.calibration = prior_calibration();
  EXPECT_LT(drawn, 0.9 * std::abs(std::log(toy_step_s(job) / row.measured_s)));
  EXPECT_EQ(fit.calibration.gemm_efficiency.value, prior_calibration().gemm_efficiency.value);
  EXPECT_EQ(fit.calibration.step_error.value, 0.15);  // one row gives no spread
}

// The times of a source grow in a way that the model does not have. Errors at models that were left
// out show it, while the residuals of the fit hide part of it. The error of pure noise is estimated
// correctly.
TEST(RunFit, ErrorOnUnseenRunsIsThatOfExtrapolation) {
  const RunFit noise = fit_runs(make_rows(0, 0.05), prior_calibration(), toy_options());
  EXPECT_EQ(noise.folds, 4);
  EXPECT_LT(noise.calibration.step_error.value, 0.15);
  EXPECT_GT(noise.calibration.step_error.value, 0.05);
  std::vector<FitRow> rows = make_rows(0, 0.05);
  for (FitRow& row : rows) row.measured_s *= std::pow(row.job.model.layers / 24.0, 0.8);
  const RunFit drift = fit_runs(rows, prior_calibration(), toy_options());
  EXPECT_GT(drift.calibration.step_error.value, 1.5 * noise.calibration.step_error.value);
  EXPECT_GT(drift.calibration.step_error.value, drift.residual_rms);
}

// The fit uses small jobs, and predictions are for large ones: nine of ten intervals contain the
// measured time.
TEST(RunFit, IntervalsOfPredictionsHoldUnseenRuns) {
  constexpr int kReplicas = 40;
  int held = 0, asked = 0;
  for (std::uint64_t replica = 0; replica < kReplicas; ++replica) {
    std::vector<FitRow> known, unseen;
    for (const FitRow& row : make_rows(replica, 0.1)) {
      (row.job.model.layers < 48 ? known : unseen).push_back(row);
    }
    const RunFit fit = fit_runs(known, prior_calibration(), toy_options());
    for (const FitRow& row : unseen) {
      Job job = row.job;
      job.calibration = fit.calibration;
      const PredictionInterval bounds =
          interval({.step_s = toy_step_s(job), .memory = {}}, fit.calibration);
      held += bounds.step_low_s <= row.measured_s && row.measured_s <= bounds.step_high_s;
      ++asked;
    }
  }
  const double share = held / double(asked);
  EXPECT_GT(share, 0.87);
  EXPECT_LT(share, 0.99);  // with few folds the prior widens intervals
}

// Rows of three models use 10 % more memory than predicted. The prior's 0.15 weighs as 3.1 errors
// (its interval is a factor of 1.94); the rows add three folds of 0.095 / 1.645.
TEST(RunFit, ErrorOfMemoryFromRowsThatStateIt) {
  Calibration prior = ideal_calibration();
  prior.kernel_sustained = assumed(1, 0.5, 1.5);
  prior.memory_error = assumed(0.15, 0.08, 0.3);
  std::vector<FitRow> rows;
  for (const int layers : {4, 8, 16}) {
    FitRow row;
    row.job = small_job(1, 1, 2);
    row.job.model.layers = layers;
    row.job.calibration = prior;
    const RunPrediction predicted = predict(row.job);
    row.measured_s = predicted.step_s;
    row.memory_bytes = bytes_of(row.memory_figure, predicted.memory) * 1.1;
    row.group = "a";
    rows.push_back(row);
  }
  FitOptions options;
  options.only = {"kernel.sustained"};
  const RunFit fit = fit_runs(rows, prior, options);
  EXPECT_EQ(fit.memory_rows, 3);
  const double fold = std::log(1.1) / kNormal95;
  const double known = 1 / (2 * std::pow(std::log(0.3 / 0.08) / (2 * kNormal95), 2));
  EXPECT_NEAR(fit.calibration.memory_error.value,
              std::sqrt((known * 0.15 * 0.15 + 3 * fold * fold) / (known + 3)), 1e-6);
  EXPECT_EQ(fit.calibration.memory_error.origin, Origin::published);
  rows[0].memory_bytes = rows[1].memory_bytes = rows[2].memory_bytes = 0;
  EXPECT_EQ(fit_runs(rows, prior, options).calibration.memory_error.value, 0.15);
}

// No step is shorter than its FLOPs take at the GPUs' peak, as for a user's job.
TEST(RunFit, IntervalsEndAtThePeak) {
  Calibration calibration = prior_calibration();
  calibration.step_error = assumed(0.3, 0.3, 0.3);
  const auto low_s = [&](double hfu_causal) {
    return interval({.step_s = 1, .hfu_causal = hfu_causal, .memory = {}}, calibration).step_low_s;
  };
  EXPECT_DOUBLE_EQ(low_s(0.9), 0.9);
  EXPECT_DOUBLE_EQ(low_s(0.1), low_s(0));
  EXPECT_LT(low_s(0), 0.7);
  const RunPrediction predicted = predict(small_job(1, 1, 2));
  EXPECT_GT(predicted.hfu_causal, 0);
  EXPECT_LE(predicted.hfu_causal, 1);
}

TEST(RunFit, IntervalIsStudents) {
  Calibration calibration = prior_calibration();
  calibration.step_error = assumed(0.1, 0.1, 0.1);
  const PredictionInterval known =
      interval({.step_s = 1, .memory_bytes = 1, .memory = {}}, calibration);
  EXPECT_NEAR(std::log(known.step_high_s), 0.16449, 1e-4);
  EXPECT_NEAR(known.step_low_s * known.step_high_s, 1, 1e-12);
  // The interval of the error is a factor exp(1.645/sqrt(2 * 5)), as with 5 degrees of freedom, for
  // which tables give t = 2.015.
  const double factor = std::exp(kNormal95 / std::sqrt(10.0));
  calibration.memory_error = assumed(0.1, 0.1 / factor, 0.1 * factor);
  const PredictionInterval few =
      interval({.step_s = 1, .memory_bytes = 1, .memory = {}}, calibration);
  EXPECT_NEAR(std::log(few.memory_high_bytes), 0.2015, 1e-4);
}

}  // namespace
}  // namespace windtunnel

#include "validate/accuracy/runs/runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "models/base/error.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;
const std::string kHeader =
    "source,model,hidden,seq,global_batch,micro_batch,gpus,gpu_type,tp,pp,iter_time_s,mem_gib,"
    "note\n";

TrainingRuns parse(const std::string& rows, const std::string& file = "runs.csv") {
  return parse_training_runs(kHeader + rows, file);
}

// The predictor is a toy: a step takes batch / (gpus * sustained), each sequence of a micro-batch
// takes 10 GB of a GPU's 80 GB, and the model "odd" is unknown.
RunPredictor stand_in() {
  RunPredictor predictor;
  predictor.job_of = [](const TrainingRun& run) {
    if (run.model == "odd") throw Error("unknown model 'odd'");
    RunJob made;
    made.job = small_job(*run.tp, *run.pp, *run.dp);
    made.job.batch = {*run.global_batch, run.micro_batch.value_or(1), *run.sequence};
    made.job.calibration.name = run.gpu_type + "-prior";
    made.job.calibration.kernel_sustained.value = 0.5;
    made.assumed = {"vocab 50257"};
    return made;
  };
  predictor.predict = [](const Job& job) {
    RunPrediction predicted;
    predicted.step_s =
        job.batch.global / (job.layout.ranks() * job.calibration.kernel_sustained.value);
    // The second pipeline rank holds a tenth less than the first; 1 GB per sequence is the
    // allocator's overhead.
    GpuMemory memory;
    memory.activations = 9e9 * job.batch.micro;
    memory.fragmentation = 1e9 * job.batch.micro;
    predicted.memory_bytes = memory.total();
    predicted.memory = {memory};
    memory.activations *= 0.9;
    predicted.memory.push_back(memory);
    predicted.fits = predicted.memory_bytes <= 80e9;
    predicted.origin = Origin::published;
    return predicted;
  };
  predictor.interval = [](const RunPrediction& predicted, const Calibration&) {
    return PredictionInterval{0.8 * predicted.step_s, 1.2 * predicted.step_s,
                              0.9 * predicted.memory_bytes, 1.1 * predicted.memory_bytes};
  };
  // The fit is the mean of what each row alone would give.
  predictor.fit = [](const std::vector<FitRow>& rows, const Calibration& prior) {
    Calibration fitted = prior;
    fitted.kernel_sustained.value = 0;
    for (const FitRow& row : rows) {
      const double ideal_s = static_cast<double>(row.job.batch.global) / row.job.layout.ranks();
      fitted.kernel_sustained.value += ideal_s / row.measured_s / static_cast<double>(rows.size());
    }
    return fitted;
  };
  predictor.fit_one_point = [fit = predictor.fit](const FitRow& row, const Calibration& prior) {
    return fit({row}, prior);
  };
  return predictor;
}

ValidationReport validate(const std::string& rows, const RunsOptions& options = {}) {
  return validate_runs({parse(rows)}, stand_in(), options);
}

const ValidationFamily& family(const ValidationReport& report, const std::string& name,
                               const std::string& metric) {
  for (const ValidationFamily& at : report.families) {
    if (at.name == name && at.metric == metric) return at;
  }
  throw std::runtime_error("no family " + name + " " + metric);
}

TEST(ValidateRuns, EveryRowIsJudgedOrSkippedWithTheReason) {
  const ValidationReport report = validate(
      "p,GPT,1024,1024,16,2,8,A100,2,2,5,20,hello\n"  // predicted 4 s, 20 GB
      "p,GPT,1024,1024,16,2,8,A100,2,2,,,\n"
      "p,odd,1024,1024,16,2,8,A100,2,2,4,,\n"
      "p,GPT,1024,1024,16,2,8,H100,2,2,4,,\n"
      "p,GPT,1024,1024,16,2,9,A100,2,2,4,,\n"
      "too,few\n");
  ASSERT_EQ(report.rows.size(), 3U);
  EXPECT_EQ(report.rows[0].id, "runs.csv:2");
  EXPECT_EQ(report.rows[0].family, "p / A100");
  EXPECT_EQ(report.rows[0].metric, "step_s");
  EXPECT_EQ(report.rows[0].predicted, 4);
  EXPECT_EQ(report.rows[0].origin, Origin::published);
  EXPECT_EQ(report.rows[0].note, "hello");
  EXPECT_EQ(report.rows[1].metric, "memory_bytes");
  EXPECT_EQ(report.rows[1].measured, 20 * kGib);
  EXPECT_EQ(report.rows[2].family, "p / H100");
  const ValidationFamily& steps = family(report, "p / A100", "step_s");
  EXPECT_DOUBLE_EQ(steps.mape, 0.2);
  EXPECT_DOUBLE_EQ(*steps.coverage90, 0);  // the interval ends at 4.8 s
  EXPECT_EQ(steps.assumed, (std::map<std::string, int>{{"vocab 50257", 1}}));
  std::vector<std::string> skipped;
  for (const SkippedRow& row : report.skipped) skipped.push_back(row.id + ": " + row.reason);
  EXPECT_EQ(skipped,
            (std::vector<std::string>{
                "runs.csv:6:7: column 'gpus': 9 GPUs are no multiple of tp 2 x pp 2 x cp 1",
                "runs.csv:7: the row has 2 cells, but the header has 13",
                "runs.csv:3: states neither a time nor memory nor whether it fitted",
                "runs.csv:4: unknown model 'odd'"}));
}

const std::string kFour =
    "p,GPT,1024,1024,16,2,8,A100,2,2,2,,\n"  // gives 1
    "p,GPT,1024,1024,32,2,8,A100,2,2,5,,\n"  // gives 0.8
    "p,GPT,2048,1024,48,2,8,A100,2,2,8,,\n"  // gives 0.75
    "p,GPT,2048,1024,64,2,8,H100,2,2,9,,\n";

TEST(ValidateRuns, ARowThatANumberWasFittedOnIsNotBlind) {
  RunPredictor predictor = stand_in();
  predictor.job_of = [plain = predictor.job_of](const TrainingRun& run) {
    RunJob made = plain(run);
    Calibration& calibration = made.job.calibration;
    calibration.kernel_sustained.source = "fitted on two rows; residual 1 %";
    calibration.kernel_sustained.fitted_on = {{"runs.csv", "hidden==1024"}};
    calibration.fragmentation.source = "fitted on another";
    calibration.fragmentation.fitted_on = {{"", "hidden==2048 && gpu_type=='H100'"}};
    calibration.host_kernel_s.fitted_on = {{"", "no_such_column==1"}, {"others.csv", ""}};
    return made;
  };
  const TrainingRuns file = parse(
      "p,GPT,1024,1024,16,2,8,A100,2,2,2,20,\n"
      "p,GPT,1024,1024,32,2,8,A100,2,2,5,,\n"
      "p,GPT,2048,1024,48,2,8,H100,2,2,8,20,\n");
  const ValidationReport report = validate_runs({file}, predictor, {});
  // The fit uses the time of the first two rows and the memory of the third.
  ASSERT_EQ(report.fitted.size(), 3U);
  EXPECT_EQ(report.fitted[0].fitted_by, std::vector<std::string>{"kernel.sustained"});
  EXPECT_EQ(report.fitted[2].id, "runs.csv:4");
  EXPECT_EQ(report.fitted[2].fitted_by, std::vector<std::string>{"memory.fragmentation"});
  ASSERT_EQ(report.rows.size(), 2U);
  EXPECT_EQ(report.rows[0].metric, "memory_bytes");
  EXPECT_EQ(report.rows[1].metric, "step_s");
  const ValidationFamily& steps = family(report, "p / A100", "step_s");
  EXPECT_EQ(steps.rows, 0);
  EXPECT_EQ(steps.fitted, 2);
  EXPECT_DOUBLE_EQ(steps.fitted_mape, (1 + 0.6) / 2);  // predicted 4 s for 2 s, and 8 s for 5 s
  // Rows that were fitted on must not enter intervals of other families.
  ASSERT_EQ(report.measured.size(), 2U);
  EXPECT_EQ(report.measured[0].family, "p / A100");
  EXPECT_EQ(report.measured[0].rows, 0);
  EXPECT_EQ(report.measured[1].rows, 1);
  const auto fit =
      std::ranges::find(report.fitted_before, "fitted on two rows", &FittedBefore::source);
  ASSERT_NE(fit, report.fitted_before.end());
  EXPECT_EQ(fit->rows, 2);
  EXPECT_EQ(fit->numbers, std::vector<std::string>{"kernel.sustained"});
  EXPECT_EQ(fit->calibrations, (std::vector<std::string>{"A100-prior", "H100-prior"}));
}

TEST(ValidateRuns, FiltersSelectWhatIsJudgedAndWhatIsFittedOn) {
  RunsOptions options;
  options.where = RowFilter::parse("hidden==2048");
  const ValidationReport chosen = validate(kFour, options);
  ASSERT_EQ(chosen.rows.size(), 2U);
  EXPECT_EQ(chosen.rows[0].id, "runs.csv:4");
  EXPECT_TRUE(chosen.fitted.empty());

  options.where.reset();
  options.fit_where = RowFilter::parse("hidden==1024");
  const ValidationReport fitted = validate(kFour, options);
  ASSERT_EQ(fitted.fitted.size(), 2U);
  ASSERT_EQ(fitted.rows.size(), 2U);
  EXPECT_NEAR(fitted.rows[0].predicted, 6 / 0.9, 1e-12);  // the mean of 1 and 0.8
  EXPECT_NEAR(fitted.rows[1].predicted, 8 / 0.5, 1e-12);  // no row of an H100 was fitted on
  EXPECT_EQ(family(fitted, "p / A100", "step_s").fitted, 2);
  EXPECT_EQ(family(fitted, "p / A100", "step_s").rows, 1);
  EXPECT_EQ(fitted.rows[0].baselines.count("6ND at the MFU of the fit rows"), 1U);

  // The filter for judging need not select the fitted rows.
  options.where = RowFilter::parse("hidden==2048 && gpu_type=='A100'");
  EXPECT_EQ(validate(kFour, options).rows.size(), 1U);
  EXPECT_NEAR(validate(kFour, options).rows[0].predicted, 6 / 0.9, 1e-12);

  options.fit_where = RowFilter::parse("hidden==4096");
  EXPECT_THROW(validate(kFour, options), Error);
  options.where = RowFilter::parse("hide==1");
  EXPECT_THROW(validate(kFour, options), Error);
}

TEST(ValidateRuns, AFaultyRowThatOnlyTheFitAsksForIsNamed) {
  RunsOptions options;
  options.where = RowFilter::parse("hidden==2048");
  options.fit_where = RowFilter::parse("hidden==1024");
  const ValidationReport report = validate(
      kFour + "p,GPT,1024,1024,16,2,9,A100,2,2,4,,\n" + "p,GPT,4096,1024,16,2,9,A100,2,2,4,,\n",
      options);
  ASSERT_EQ(report.skipped.size(), 1U);
  EXPECT_EQ(report.skipped[0].id, "runs.csv:6:7");
}

TEST(ValidateRuns, WhatCannotBePredictedIsNotFittedOn) {
  RunPredictor predictor = stand_in();
  predictor.predict = [predict = predictor.predict](const Job& job) {
    if (job.batch.sequence == 512) throw Error("too short");
    return predict(job);
  };
  predictor.fit = [fit = predictor.fit](const std::vector<FitRow>& rows, const Calibration& prior) {
    for (const FitRow& row : rows) {
      if (row.job.batch.sequence == 512) throw Error("no row can be used");
    }
    return fit(rows, prior);
  };
  RunsOptions options;
  options.fit_where = RowFilter::parse("hidden==1024");
  const ValidationReport report =
      validate_runs({parse(kFour + "p,GPT,1024,512,64,2,8,H100,2,2,9,,\n")}, predictor, options);
  EXPECT_EQ(report.fitted.size(), 2U);
  EXPECT_EQ(report.rows.size(), 2U);
  ASSERT_EQ(report.skipped.size(), 1U);
  EXPECT_EQ(report.skipped[0].id, "runs.csv:6");
  EXPECT_EQ(report.skipped[0].reason, "too short");
}

TEST(ValidateRuns, FitsOnAnotherFile) {
  RunsOptions options;
  options.calibrate_on = {
      parse("q,GPT,1024,1024,16,2,8,A100,2,2,8,,\n"
            "q,GPT,2048,1024,16,2,8,A100,2,2,4,,\n",
            "other.csv")};
  const ValidationReport all = validate(kFour, options);
  EXPECT_EQ(all.rows.size(), 4U);
  EXPECT_EQ(all.fitted.size(), 2U);
  EXPECT_NEAR(all.rows[0].predicted, 2 / 0.375, 1e-12);  // the mean of 0.25 and 0.5
  options.fit_where = RowFilter::parse("hidden==1024");  // applies to the other file
  const ValidationReport one = validate(kFour, options);
  EXPECT_EQ(one.rows.size(), 4U);
  EXPECT_NEAR(one.rows[0].predicted, 2 / 0.25, 1e-12);

  // If both options name the same file, fitted rows are not judged.
  options.calibrate_on = {parse(kFour)};
  const ValidationReport same = validate(kFour, options);
  EXPECT_EQ(same.fitted.size(), 2U);
  ASSERT_EQ(same.rows.size(), 2U);
  EXPECT_EQ(same.rows[0].id, "runs.csv:4");
}

TEST(ValidateRuns, OnePointOfEachFamilyIsTheMiddleOne) {
  RunsOptions options;
  options.one_point = true;
  const ValidationReport report = validate(kFour, options);
  ASSERT_EQ(report.fitted.size(), 1U);
  EXPECT_EQ(report.fitted[0].id, "runs.csv:3");
  EXPECT_NEAR(report.fitted[0].predicted, 5, 1e-12);
  ASSERT_EQ(report.rows.size(), 3U);
  EXPECT_NEAR(report.rows[0].predicted, 2 / 0.8, 1e-12);
  EXPECT_NEAR(report.rows[2].predicted, 8 / 0.5, 1e-12);  // alone in its family, so without a fit
}

TEST(ValidateRuns, OneCalibrationForAll) {
  RunsOptions options;
  options.calibration = ideal_calibration();
  EXPECT_EQ(validate(kFour, options).rows[0].predicted, 2);
}

TEST(ValidateRuns, CountsWhetherRunsFitted) {
  const ValidationReport report = validate(
      "p,GPT,1024,1024,16,16,1,A100,1,1,,,status=OOM\n"          // 160 GB: right
      "p,GPT,1024,1024,16,1,1,A100,1,1,,,status=OOM; x=1\n"      // 10 GB: missed
      "p,GPT,1024,1024,16,16,1,A100,1,1,9,,status=Success\n"     // false alarm
      "p,GPT,1024,1024,16,2,1,A100,1,1,9,20,status=Success\n");  // right
  const auto& labels = family(report, "p / A100", "memory_bytes").out_of_memory;
  ASSERT_TRUE(labels.has_value());
  EXPECT_EQ(labels->right, 2);
  EXPECT_EQ(labels->missed, 1);
  EXPECT_EQ(labels->false_alarms, 1);
  EXPECT_TRUE(report.skipped.empty());

  // A family may have labels only, without judged rows.
  const ValidationReport only = validate("p,GPT,1024,1024,16,16,1,A100,1,1,,,status=OOM\n");
  ASSERT_EQ(only.families.size(), 1U);
  EXPECT_EQ(only.families[0].rows, 0);
  EXPECT_EQ(only.families[0].out_of_memory->right, 1);
}

TEST(ValidateRuns, LayoutsOfOneJobAreAGroup) {
  const ValidationReport report = validate(
      "p,GPT,1024,1024,16,2,8,A100,2,2,2,,\n"
      "p,GPT,1024,1024,16,2,8,A100,2,2,2.1,,\n"  // measured again
      "p,GPT,1024,1024,16,1,8,A100,4,2,3,,\n"
      "p,GPT,2048,1024,16,2,8,A100,2,2,2,,\n"  // another model
      "p,GPT,1024,1024,32,2,8,A100,2,2,4,,\n");
  EXPECT_EQ(report.rows[0].group, report.rows[2].group);
  EXPECT_NE(report.rows[0].group, report.rows[3].group);
  EXPECT_NE(report.rows[0].group, report.rows[4].group);
  EXPECT_EQ(report.rows[0].configuration, report.rows[1].configuration);
  EXPECT_NE(report.rows[0].configuration, report.rows[2].configuration);
  ASSERT_TRUE(report.families[0].ranking.has_value());
  EXPECT_EQ(report.families[0].ranking->groups, 1);
}

TEST(ValidateRuns, MemoryAsItsSourcePrintsIt) {
  const ValidationReport report = validate(
      "Zero Bubble Table 4,GPT,1024,1024,16,2,8,A100,2,2,,20,\n"
      "HF nanotron sweep,GPT,1024,1024,16,2,8,H100,2,2,,20,\n"
      "Megatron-LM CI,GPT,1024,1024,16,2,8,H100,2,2,,20,\n");
  ASSERT_EQ(report.rows.size(), 3U);
  EXPECT_EQ(report.rows[0].measured, 20e9);
  EXPECT_NEAR(report.rows[0].predicted, 18e9, 1);  // bytes of tensors only
  EXPECT_NEAR(report.rows[0].low, 0.9 * 18e9, 1);
  EXPECT_EQ(report.rows[1].measured, 20 * kGib);
  EXPECT_NEAR(report.rows[1].predicted, 20e9, 1);
  EXPECT_NEAR(report.rows[2].predicted, 0.9 * 18e9, 1);  // memory of the last rank
}

TEST(ValidateRuns, ThreadsDoNotShow) {
  std::string rows;
  for (int i = 1; i <= 200; ++i) {
    rows += (i % 7 == 0 ? "p,odd" : "p,GPT") + std::string(",1024,1024,") + std::to_string(16 * i) +
            ",2,8,A100,2,2," + std::to_string(i) + ",,\n";
  }
  RunsOptions options;
  options.one_point = true;
  std::atomic<size_t> last{0};
  options.progress = [&](size_t done, size_t all) { last = std::max(last.load(), all - done); };
  options.threads = 1;
  const ValidationReport one = validate(rows, options);
  options.threads = 7;
  const ValidationReport seven = validate(rows, options);
  ASSERT_EQ(one.rows.size(), seven.rows.size());
  for (size_t i = 0; i < one.rows.size(); ++i) {
    EXPECT_EQ(one.rows[i].id, seven.rows[i].id);
    EXPECT_EQ(one.rows[i].predicted, seven.rows[i].predicted);
  }
  ASSERT_EQ(one.skipped.size(), 28U);
  for (size_t i = 0; i < one.skipped.size(); ++i) EXPECT_EQ(one.skipped[i].id, seven.skipped[i].id);
  EXPECT_EQ(last, 199U);  // progress was reported for every row
}

TEST(ValidateRuns, ABugOfOursIsNotASkippedRow) {
  RunPredictor predictor = stand_in();
  predictor.predict = [](const Job&) -> RunPrediction { throw InternalError("broken"); };
  EXPECT_THROW(validate_runs({parse(kFour)}, predictor, {}), InternalError);
}

}  // namespace
}  // namespace windtunnel

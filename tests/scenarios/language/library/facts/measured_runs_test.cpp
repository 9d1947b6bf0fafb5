#include "scenarios/language/library/facts/measured_runs.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "models/calibration/prediction_error.hpp"
#include "scenarios/language/case.hpp"
#include "scenarios/language/library/facts/training_software.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/text/document.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

TEST(MeasuredRuns, AreOfTheLibrarysGpus) {
  EXPECT_GE(measured_runs().size(), 40);
  int blind = 0;
  for (const MeasuredRuns& runs : measured_runs()) {
    EXPECT_NO_THROW(find_gpu(runs.traits.gpu)) << runs.family;
    // The errors of blind rows are kept, and of no others.
    EXPECT_EQ(std::ssize(runs.errors), std::min(runs.rows, kMostErrors)) << runs.family;
    EXPECT_TRUE(std::ranges::is_sorted(runs.errors)) << runs.family;
    blind += runs.rows;
  }
  EXPECT_GT(blind, 1500);
}

// The quality of users' intervals: each publisher in turn is left out with all its runs, which then
// test the intervals. Publishers have equal weight, except those of few runs.
struct LeftOut {
  double covered = 0;     // share that 90 % intervals cover
  double half_width = 0;  // mean, in the logarithm
  // The width plus 20 times the distance by which values lie outside (Gneiting and Raftery 2007,
  // doi 10.1198/016214506000001437, equation 43). Lower is better.
  double score = 0;
};

LeftOut judged(const std::function<double(const MeasuredRuns&)>& half_width,
               const std::vector<MeasuredRuns>& measured = measured_runs()) {
  struct Sums {
    double runs = 0, covered = 0, half_width = 0, score = 0;
  };
  std::map<std::string, Sums> publishers;
  for (const MeasuredRuns& runs : measured) {
    if (runs.rows == 0) continue;
    const double half = half_width(runs);
    Sums& sums = publishers[std::string(publisher_of(runs.family))];
    const double each = double(runs.rows) / static_cast<double>(runs.errors.size());
    for (const double error : runs.errors) {
      sums.runs += each;
      sums.covered += error <= half ? each : 0;
      sums.half_width += half * each;
      sums.score += (2 * half + 20 * std::max(0.0, error - half)) * each;
    }
  }
  LeftOut all;
  double weights = 0;
  for (const auto& [name, sums] : publishers) {
    const double weight = 1 / (sums.runs + 5);
    weights += weight * sums.runs;
    all.covered += weight * sums.covered;
    all.half_width += weight * sums.half_width;
    all.score += weight * sums.score;
  }
  return {all.covered / weights, all.half_width / weights, all.score / weights};
}

LeftOut judged_by(const LikenessLaw& law,
                  const std::vector<MeasuredRuns>& measured = measured_runs()) {
  return judged(
      [&](const MeasuredRuns& runs) {
        const Familiarity others = familiarity(runs.traits, measured, runs.family, law);
        return std::log(error_factor(others.error(), 0.9));
      },
      measured);
}

// docs/physics/cost.md, "How sure", states these figures.
TEST(MeasuredRuns, IntervalsHoldNineTenthsOfPublishersThatAreLeftOut) {
  const LeftOut law = judged_by({});
  EXPECT_GE(law.covered, 0.9);
  // One interval for all jobs, with the same coverage, has a worse score.
  LeftOut one;
  for (double half = 0.1; one.covered < law.covered; half += 0.005) {
    one = judged([&](const MeasuredRuns&) { return half; });
  }
  EXPECT_LT(law.score, one.score);
  fmt::print(
      "law: {:.3f} in +-{:.3f}, score {:.3f}; one interval for all: {:.3f} in +-{:.3f}, {:.3f}\n",
      law.covered, law.half_width, law.score, one.covered, one.half_width, one.score);
}

// publisher_of() treats NVIDIA's five collections as five publishers, although one company measured
// them all. With all five left out together the coverage is the same. docs/physics/cost.md, "How
// sure", states these figures.
TEST(MeasuredRuns, IntervalsHoldAsMuchWithNvidiaAsOnePublisher) {
  std::vector<MeasuredRuns> as_one = measured_runs();
  int collections = 0;
  for (MeasuredRuns& runs : as_one) {
    if (!runs.family.starts_with("NVIDIA ") && !runs.family.starts_with("NeMo-")) continue;
    runs.family = "NVIDIA 1 " + runs.family;
    EXPECT_EQ(publisher_of(runs.family), "NVIDIA");
    ++collections;
  }
  ASSERT_GT(collections, 5);
  const LeftOut law = judged_by({});
  const LeftOut one = judged_by({}, as_one);
  EXPECT_NEAR(one.covered, law.covered, 0.03);
  EXPECT_LT(one.score, 1.06 * law.score);
  fmt::print("NVIDIA as one publisher: {:.3f} in +-{:.3f}, score {:.3f}\n", one.covered,
             one.half_width, one.score);
}

// No neighbouring parameters of the law are clearly better.
TEST(MeasuredRuns, TheLawWasChosenByPublishersThatAreLeftOut) {
  const LeftOut chosen = judged_by({});
  for (const LikenessLaw& other :
       {LikenessLaw{.unlike = 0.05}, LikenessLaw{.unlike = 0.2}, LikenessLaw{.unlike = 1},
        LikenessLaw{.beyond = 1.2}, LikenessLaw{.beyond = 2}}) {
    EXPECT_LT(chosen.score, 1.03 * judged_by(other).score) << other.unlike << " " << other.beyond;
  }
}

// The weight of publishers with few runs hardly changes the score over a wide range
// (docs/physics/cost.md, "How sure").
TEST(MeasuredRuns, TheWeightOfFewRunsLiesInAFlatValley) {
  const double chosen = judged_by({}).score;
  for (const double few_runs : {5., 10., 50., 100., 200., 500.}) {
    const LeftOut other = judged_by({.few_runs = few_runs});
    EXPECT_LT(chosen, 1.01 * other.score) << few_runs;
    fmt::print("few_runs {}: {:.3f} in +-{:.3f}, score {:.3f} beside {:.3f}\n", few_runs,
               other.covered, other.half_width, other.score, chosen);
  }
}

// A calibration that is for no particular GPU decides alone. Otherwise the measured runs decide,
// unless the calibration assumes a larger error.
TEST(StepError, IsOfTheCalibrationOrOfMeasuredRuns) {
  Case the_case = parse_case(
      "name: a\nmodel: llama3-8b\ncluster: {nodes: 2, node: dgx-h100}\nlayout: {sharding: zero1}\n"
      "batch: {global: 64}\n",
      "a.yaml");
  Job& job = the_case.job;
  const StepError usual = step_error(job, "megatron", 0.4);
  EXPECT_EQ(usual.error.value, usual.familiarity.error().value);
  EXPECT_NE(step_error(job, "nanotron", 0.4).error.value, usual.error.value);
  const Parameter published = job.calibration.step_error;
  job.calibration.step_error = {1, 0.5, 2, Origin::assumed, "a guess"};
  EXPECT_EQ(step_error(job, "megatron", 0.4).error.value, 1);
  job.calibration.step_error = published;
  EXPECT_GT(usual.familiarity.families, 2);
  EXPECT_NE(step_error(job, "megatron", 0.4, "MosaicML llm-foundry benchmarks / h100_80gb")
                .familiarity.rows,
            usual.familiarity.rows);
  job.calibration.name = "own";
  EXPECT_EQ(step_error(job, "megatron", 0.4).error.value, job.calibration.step_error.value);
}

TEST(MeasuredRuns, SoftwareIsToldByWhatItIsBasedOn) {
  EXPECT_EQ(software_root(nullptr), "megatron");
  EXPECT_EQ(software_root(&find_framework("mlperf-nvidia-5.1")), "megatron");
  EXPECT_EQ(software_root(&find_framework("torchtitan-2025-08")), "torchtitan");
  EXPECT_EQ(software_root(&find_framework("jax-gpu")), "jax-gpu");
  for (const MeasuredRuns& runs : measured_runs()) {
    EXPECT_EQ(find_framework(runs.traits.software).base, "") << runs.family;
  }
}

TEST(MeasuredRuns, AreWrittenAsTheyAreRead) {
  const std::string text = measured_runs_text({{.family = "a / X",
                                                .traits = {.gpu = "h100",
                                                           .software = "pytorch",
                                                           .gpu_bits = 8,
                                                           .bits = 8,
                                                           .experts = true,
                                                           .gpus = 64,
                                                           .sequence = 4096,
                                                           .experts_a_rank = 16,
                                                           .micro_tokens = 8192},
                                                .rows = 3,
                                                .errors = {0.1234, 0.5}}});
  EXPECT_NE(
      text.find(
          "- {family: \"a / X\", gpu: h100, software: pytorch, gpu_bits: 8, bits: 8, "
          "experts: true, "
          "adapters: false, low_use: false, sharded_weights: false, context: false, gpus: 64, "
          "sequence: 4096, experts_a_rank: 16, micro_tokens: 8192, "
          "rows: 3, errors: [0.123, 0.500]}\n"),
      std::string::npos)
      << text;
}

TEST(MeasuredRuns, ErrorsAreThoseOfTheRows) {
  const auto read = [](int rows, const std::string& errors) {
    const std::string head =
        measured_runs_text({{.family = "a / X", .traits = {.gpu = "h100", .software = "pytorch"}}});
    const std::string none = "rows: 0, errors: []";
    std::string text = head;
    text.replace(text.find(none), none.size(), fmt::format("rows: {}, errors: [{}]", rows, errors));
    return read_measured_runs(parse_document(text, "m.yaml"));
  };
  EXPECT_EQ(read(2, "0.1, 0.1").at(0).errors.size(), 2);
  EXPECT_TRUE(read(0, "").at(0).errors.empty());
  EXPECT_TRUE(fails([&] { read(2, ""); }, "there are 0 errors for 2 rows; there must be 2"));
  EXPECT_TRUE(
      fails([&] { read(30, "0.1, 0.2"); }, "there are 2 errors for 30 rows; there must be 20"));
  EXPECT_TRUE(fails([&] { read(0, "0.1"); }, "there are 1 errors for 0 rows; there must be 0"));
  EXPECT_TRUE(fails([&] { read(2, "0.2, 0.1"); }, "errors must be in ascending order"));
  EXPECT_TRUE(fails([&] { read(2, "-0.1, 0.1"); }, "an error must not be negative"));
}

}  // namespace
}  // namespace windtunnel

#include "models/results/familiarity.hpp"

#include <gtest/gtest.h>

#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <numbers>
#include <string_view>

#include "models/calibration/prediction_error.hpp"

namespace windtunnel {
namespace {

// Makes runs whose errors are normal with this standard deviation.
MeasuredRuns runs(const std::string& family, const RunTraits& traits, int rows, double deviation) {
  MeasuredRuns made{.family = family, .traits = traits, .rows = rows};
  for (int i = 0; i < kMostErrors; ++i) {
    const boost::math::normal law;
    made.errors.push_back(deviation * quantile(law, 0.5 + (i + 0.5) / kMostErrors / 2));
  }
  return made;
}

// Returns half of the width of the 90 % interval.
double width(const RunTraits& traits, const std::vector<MeasuredRuns>& measured,
             std::string_view without = {}) {
  return std::log(error_factor(familiarity(traits, measured, without).error(), 0.9));
}

const RunTraits kDense = {.gpu = "x", .software = "megatron", .gpus = 64, .sequence = 4096};
const RunTraits kExperts = {
    .gpu = "x", .software = "megatron", .experts = true, .gpus = 8, .sequence = 4096};
const RunTraits kEightBits = {
    .gpu = "y", .software = "megatron", .bits = 8, .gpus = 512, .sequence = 8192};
const std::vector<MeasuredRuns> kMeasured = {
    runs("one", kDense, 3, 0.1), runs("one", kExperts, 2, 0.3), runs("two", kDense, 5, 0.2),
    runs("three", kDense, 7, 0.2), runs("four", kEightBits, 9, 0.4)};

// The width if all runs are alike and have this deviation.
double width_of(double deviation) {
  return width(kDense, {runs("one", kDense, 20, deviation)});
}

TEST(Familiarity, APublisherIsAllItsReleasesAndGpus) {
  EXPECT_EQ(publisher_of("NVIDIA Megatron-Bridge 26.08 NeMo Container / GB300"),
            publisher_of("NVIDIA Megatron-Bridge 25.09 NeMo Container / H100"));
  EXPECT_EQ(publisher_of("Megatron-LM CI golden values (large) / A100"),
            publisher_of("Megatron-LM CI golden values / H100"));
  EXPECT_EQ(publisher_of("MosaicML llm-foundry benchmarks / a100_80gb"),
            "MosaicML llm-foundry benchmarks");
  EXPECT_EQ(publisher_of("MLPerf Training v5.0 / H200 NVL (PCIe)"), "MLPerf Training");
  EXPECT_EQ(publisher_of("Seq1F1B repo table / A100"), "Seq");
  EXPECT_EQ(publisher_of("torchtune README memory and speed / A6000"),
            publisher_of("torchtune README optimisation ladder / A100-80GB"));
  EXPECT_NE(publisher_of("torchtitan 2024-12 / H100"), publisher_of("torchtune README / H100"));
}

TEST(Familiarity, TheOtherReleasesOfAPublisherAreLeftOutWithAFamily) {
  const std::vector<MeasuredRuns> measured = {
      runs("Lab v1 / x", kDense, 3, 0.9), runs("Lab v2 / x", kDense, 3, 0.9),
      runs("one", kDense, 3, 0.1), runs("two", kDense, 5, 0.1), runs("three", kDense, 7, 0.1)};
  EXPECT_EQ(familiarity(kDense, measured).families, 5);
  const Familiarity others = familiarity(kDense, measured, "Lab v2 / x");
  EXPECT_EQ(others.families, 3);
  EXPECT_DOUBLE_EQ(width(kDense, measured, "Lab v2 / x"), width_of(0.1));
  EXPECT_GT(width(kDense, measured), width_of(0.2));
}

TEST(Familiarity, RunsThatWereFittedOnTellWhatWasMeasuredAlone) {
  std::vector<MeasuredRuns> measured = {runs("one", kDense, 3, 0.1), runs("two", kDense, 5, 0.1),
                                        runs("three", kDense, 7, 0.1)};
  RunTraits larger = kDense;
  larger.gpus = 1024;
  const auto lacks = [&] { return familiarity(larger, measured).unfamiliar; };
  EXPECT_EQ(lacks(), std::vector<std::string>{"no run on 1024 GPUs or more was measured on x"});
  measured.push_back(runs("fitted", larger, 0, 0));
  EXPECT_TRUE(lacks().empty());
  EXPECT_EQ(familiarity(larger, measured).families, 3);
  EXPECT_DOUBLE_EQ(width(larger, measured), width_of(0.1));
}

TEST(Familiarity, HoldsAgainstTheSameKindOnTheSameGpu) {
  const Familiarity found = familiarity(kDense, kMeasured);
  EXPECT_EQ(found.alike, "dense models in 16 bits on x");
  EXPECT_EQ(found.rows, 15);
  EXPECT_EQ(found.families, 3);
  // The deviation lies between those of similar runs, 0.1 and 0.2, and those of others, 0.3 and
  // 0.4.
  EXPECT_GT(found.deviation, 0.1);
  EXPECT_LT(found.deviation, 0.25);
  ASSERT_EQ(found.nearest.size(), 3U);
  EXPECT_EQ(found.nearest.front().name, "three");
  EXPECT_EQ(found.nearest.front().rows, 7);
  EXPECT_NEAR(found.nearest.back().deviation, 0.1, 0.01);
  EXPECT_TRUE(found.unfamiliar.empty());
}

TEST(Familiarity, WidensTheCircleUntilThreeFamiliesTell) {
  EXPECT_EQ(familiarity({.gpu = "z", .software = "megatron"}, kMeasured).alike,
            "dense models in 16 bits");
  EXPECT_EQ(familiarity(kEightBits, kMeasured).alike, "dense models");
  EXPECT_EQ(familiarity(kExperts, kMeasured).alike, "all runs");
}

// Each trait that differs lowers the weight of a run, so that similar runs decide.
TEST(Familiarity, WhatIsAlikeDecides) {
  RunTraits adapters = kDense;
  adapters.adapters = true;
  RunTraits tiny = kDense;
  tiny.low_use = true;
  RunTraits torch = kDense;
  torch.software = "pytorch";
  const std::vector<MeasuredRuns> measured = {
      runs("one", kDense, 100, 0.05), runs("two", adapters, 100, 0.2),
      runs("three", tiny, 100, 0.6), runs("four", torch, 100, 1.2)};
  EXPECT_LT(width(kDense, measured), width(adapters, measured));
  EXPECT_LT(width(adapters, measured), width(tiny, measured));
  EXPECT_LT(width(tiny, measured), width(torch, measured));
  // Runs that differ make the interval wider than similar runs alone would.
  EXPECT_GT(width(kDense, measured), width_of(0.05));
}

// The two printed intervals are those of a mixture of normal laws, within the error of fitting a t
// distribution with whole degrees of freedom.
TEST(Familiarity, IsAMixtureOfNormalLaws) {
  const std::vector<MeasuredRuns> measured = {runs("one", kDense, 45, 0.1),
                                              runs("two", kDense, 45, 0.3)};
  const Parameter error = familiarity(kDense, measured).error();
  const LikenessLaw law;
  for (const double covered : {0.9, 0.95}) {
    const double half = std::log(error_factor(error, covered));
    double held = 0;
    for (const MeasuredRuns& each : measured) {
      for (const double other : each.errors) {
        held += std::erf(half / (law.beyond * std::max(other, law.least)) / std::numbers::sqrt2);
      }
    }
    EXPECT_NEAR(held / (2.0 * kMostErrors), covered, 0.01);
  }
}

// A few runs on broken machines, off by a factor of ten, widen only the tails.
TEST(Familiarity, FewThatAreFarOffDecideNothing) {
  std::vector<MeasuredRuns> measured = {runs("one", kDense, 100, 0.1),
                                        runs("two", kDense, 100, 0.1),
                                        runs("three", kDense, 100, 0.1)};
  const double before = width(kDense, measured);
  measured[0].errors.back() = 2.3;  // one of twenty; the r.m.s. becomes 0.52
  EXPECT_LT(width(kDense, measured), 1.15 * before);
  EXPECT_NEAR(familiarity(kDense, measured).nearest.front().deviation, 0.1, 0.01);
}

TEST(Familiarity, OfManyErrorsTwentyStandForAll) {
  std::vector<double> errors;
  for (int i = 0; i < 1000; ++i) errors.push_back(((i * 617) % 1000) / 1000.0);
  const std::vector<double> kept = kept_errors(errors);
  ASSERT_EQ(kept.size(), std::size_t{kMostErrors});
  for (int i = 0; i < kMostErrors; ++i) EXPECT_NEAR(kept[i], (i + 0.5) / kMostErrors, 2e-3);
  EXPECT_EQ(kept_errors({0.3, 0.1}), (std::vector<double>{0.1, 0.3}));
}

// A warning names layouts that an optimiser may choose but nobody has measured, on any GPU.
TEST(Familiarity, LayoutsThatNoRunHadAreTold) {
  RunTraits spread = kExperts;
  spread.experts_a_rank = 16;
  spread.micro_tokens = 8192;
  std::vector<MeasuredRuns> measured = kMeasured;
  measured.push_back(runs("six", spread, 2, 0.1));
  EXPECT_EQ(layout_reach(measured, true).experts_a_rank, 16);
  EXPECT_EQ(layout_reach(measured, false).micro_tokens, 0);
  EXPECT_TRUE(familiarity(spread, measured).unlike_layout.empty());
  spread.gpu = "other";
  spread.experts_a_rank = 128;
  EXPECT_EQ(familiarity(spread, measured).unlike_layout,
            std::vector<std::string>{
                "no run with 128 experts of a layer on a rank was measured; the most is 16"});
  spread.experts_a_rank = 4;
  spread.micro_tokens = 65536;
  EXPECT_EQ(familiarity(spread, measured).unlike_layout,
            std::vector<std::string>{"no run with 65536 tokens in a micro-batch of a model with "
                                     "experts was measured; the most is 8192"});
}

// A publisher of few runs has little weight, however small their errors are.
TEST(Familiarity, FewRunsTellLittle) {
  std::vector<MeasuredRuns> measured = {runs("one", kDense, 50, 0.3), runs("two", kDense, 1, 0.03)};
  const double few = width(kDense, measured);
  measured.back().rows = 1000;
  EXPECT_LT(width(kDense, measured), few);
}

// Where little of the peak is used, waits decide, which are predicted less well than kernels.
TEST(Familiarity, AStepThatUsesLittleOfThePeakIsOfItsOwnKind) {
  const Job job;
  EXPECT_TRUE(traits_of(job, "megatron", 0.1).low_use);
  EXPECT_FALSE(traits_of(job, "megatron", 0.4).low_use);
  EXPECT_FALSE(traits_of(job, "megatron", 0).low_use);  // not known
}

TEST(Familiarity, AFamilyLeftOutTellsNothing) {
  const Familiarity found = familiarity(kDense, kMeasured, "three");
  EXPECT_EQ(found.alike, "dense models");
  EXPECT_EQ(found.families, 3);
}

TEST(Familiarity, SaysWhatWasNotMeasuredOnTheGpu) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(familiarity({.gpu = "z", .software = "megatron"}, kMeasured).unfamiliar,
            Texts{"no run on z was measured"});
  EXPECT_EQ(familiarity({.gpu = "x", .software = "maxtext"}, kMeasured).unfamiliar,
            Texts{"no run of maxtext was measured on x"});
  EXPECT_EQ(familiarity({.gpu = "x", .software = "megatron", .bits = 8}, kMeasured).unfamiliar,
            Texts{"no product of 8 bits was measured on x"});
  EXPECT_EQ(
      familiarity(
          {.gpu = "x", .software = "megatron", .context = true, .gpus = 128, .sequence = 8192},
          kMeasured)
          .unfamiliar,
      (Texts{"no context parallelism was measured on x",
             "no run on 128 GPUs or more was measured on x",
             "no sequence of 8192 tokens or more was measured on x"}));
}

}  // namespace
}  // namespace windtunnel

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "scenarios/language/resolve/resolve.hpp"
#include "tests/scenarios/golden.hpp"

namespace windtunnel {
namespace {

class QualityCurve : public ::testing::Test {
 protected:
  QualityCurve() { std::filesystem::create_directories(folder_); }
  ~QualityCurve() override { std::filesystem::remove_all(folder_); }

  Job job(const std::string& keys, const std::string& curve = "") const {
    std::ofstream(folder_ / "curve.csv") << curve;
    std::ofstream(folder_ / "s.yaml") << fmt::format(
        "name: quality\nmodel: resnet-50\ncluster: {{nodes: 8, node: pcie-rtx2080ti}}\n"
        "precision: fp32\nbatch: {{global: 256}}\n{}\n",
        keys);
    return load_case((folder_ / "s.yaml").string(), {}).job;
  }
  std::string fault(const std::string& keys, const std::string& curve = "") const {
    std::string message = error_of([&] { job(keys, curve); });
    const std::string path = folder_.string() + "/";
    for (std::size_t at; (at = message.find(path)) != std::string::npos;) {
      message.erase(at, path.size());
    }
    return message;
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / fmt::format("wt_quality_{}", getpid());
};

TEST_F(QualityCurve, StatedStepsAreTheTokensToTrainOn) {
  const Job stated = job("job: {steps: 450000}");
  EXPECT_EQ(stated.steps, 450000);
  EXPECT_EQ(stated.tokens, 450000.0 * 256);
  EXPECT_EQ(job("").steps, 0);
}

TEST_F(QualityCurve, TheRowOfTheJobsCompressorAndBatchCounts) {
  const std::string curve =
      "compressor,rank,global_batch,steps\nnone,,256,450000\npowersgd,4,256,460000\n"
      "powersgd,2,256,480000\n";
  EXPECT_EQ(job("job: {quality: curve.csv}", curve).steps, 450000);
  EXPECT_EQ(job("communication: {compressor: {name: powersgd, rank: 2}}\n"
                "job: {quality: curve.csv}",
                curve)
                .steps,
            480000);
  // A rank that is left out is the default of 4.
  EXPECT_EQ(job("communication: {compressor: powersgd}\njob: {quality: curve.csv}", curve).steps,
            460000);
}

TEST_F(QualityCurve, BetweenTwoBatchesStepsFollowAPowerLaw) {
  // Twice the batch needs half the steps.
  EXPECT_NEAR(
      job("job: {quality: curve.csv}", "global_batch,steps\n128,900000\n1024,112500\n").steps,
      450000, 1e-6);
}

TEST_F(QualityCurve, WhatIsWrongIsNamedWithItsPlace) {
  const std::string key = "job: {quality: curve.csv}";
  EXPECT_EQ(fault("job: {steps: 10, tokens: 5}"),
            "s.yaml:6:26: job.tokens: model 'resnet-50' has samples, not tokens; use job.steps");
  EXPECT_EQ(fault("job: {steps: 10, quality: curve.csv}"),
            "s.yaml:6:14: job.steps: job.quality also says how many; keep one of them");
  EXPECT_EQ(fault(key, "global_batch,step\n1,2\n"),
            "s.yaml:6:16: job.quality: unknown column 'step'; did you mean 'steps'?");
  EXPECT_EQ(fault(key, "steps\n-5\n"),
            "s.yaml:6:16: job.quality: curve.csv:2:1: steps: must be above 0");
  EXPECT_EQ(fault(key, "steps\n1e300\n"),
            "s.yaml:6:16: job.quality: curve.csv:2:1: steps: expected a number up to 1e12");
  EXPECT_EQ(fault(key, "global_batch,steps\n256,5\n256,6\n"),
            "s.yaml:6:16: job.quality: curve.csv:3:2: there is already a row for the same "
            "compressor and batch");
  EXPECT_EQ(fault(key, "global_batch,steps\n512,5\n1024,6\n"),
            "s.yaml:6:16: job.quality: curve.csv covers global batches of 512 to 1024, not 256");
  EXPECT_EQ(fault(key, "compressor,steps\npowersgd,5\nacp-sgd,6\n"),
            "s.yaml:6:16: job.quality: curve.csv has no row for compressor 'none' with the stated "
            "numbers; it has acp-sgd, powersgd");
}

TEST_F(QualityCurve, StepsMayDependOnHowOftenIslandsExchange) {
  const std::string curve =
      "every,islands,sync_compressor,steps\n1,,,1000\n100,8,none,1100\n100,8,int4,1150\n";
  const auto steps = [&](const std::string& sync) {
    return job("job: {quality: curve.csv}\n" + sync, curve).steps;
  };
  EXPECT_EQ(steps(""), 1000);
  EXPECT_EQ(steps("sync: [{over: node, every: 100 steps}]\n"), 1100);
  EXPECT_EQ(steps("sync: [{over: node, every: 100 steps, compressor: int4}]\n"), 1150);
  EXPECT_NE(fault("job: {quality: curve.csv}\nsync: [{over: node, every: 50 steps}]", curve)
                .find("8 islands that exchange every 50 steps"),
            std::string::npos);
}

}  // namespace
}  // namespace windtunnel

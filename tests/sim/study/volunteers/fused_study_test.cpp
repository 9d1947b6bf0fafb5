#include "sim/study/volunteers/fused_study.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "scenarios/language/case.hpp"

namespace windtunnel {
namespace {

Case fused_case(const std::string& model, int micro) {
  return parse_case(
      fmt::format("name: a\nmodel: {}\ncluster: {{nodes: 1, node: {{base: dgx-v100, gpus: 1}}}}\n"
                  "precision: fp16\nbatch: {{global: {}, micro: {}}}\nfuse: 64\n",
                  model, micro, micro),
      "a.yaml");
}

constexpr const char* kSmall =
    "{layers: 4, hidden: 256, heads: 4, vocabulary: 8000, sequence: 128}";

FusedReport fused_report(const Case& the_case, int most) {
  return study_fused(the_case.job, *the_case.prepared, most);
}

TEST(FusedStudy, OneJobIsTheJob) {
  for (const char* model : {kSmall, "resnet-50"}) {
    const Case the_case = fused_case(model, 4);
    const FusedReport report = fused_report(the_case, 1);
    ASSERT_EQ(report.points.size(), 1U);
    EXPECT_EQ(report.points[0].speedup, 1);
    EXPECT_DOUBLE_EQ(report.points[0].memory_bytes, the_case.prepared->memory[0].total());
    double seconds = 0;
    for (const ChunkCost& chunk : the_case.prepared->chunks) {
      seconds += total_seconds(chunk.forward) + total_seconds(chunk.backward_input) +
                 total_seconds(chunk.backward_weight);
      seconds += total_seconds(optimizer_cost(chunk.parameters, the_case.job));
    }
    EXPECT_DOUBLE_EQ(report.points[0].step_s, seconds);
  }
}

// More jobs never take less time, nor more than one after the other. At some number of jobs the GPU
// is full, and the speed-up hardly grows beyond it.
TEST(FusedStudy, SpeedsSmallJobsUpUntilTheGpuIsFull) {
  const FusedReport report = fused_report(fused_case(kSmall, 1), 1024);
  double step_s = 0;
  double speedup = 0.999;
  for (const FusedPoint& point : report.points) {
    EXPECT_GE(point.step_s, step_s) << point.jobs;
    EXPECT_GE(point.speedup, speedup * 0.99) << point.jobs;  // waves round the time up
    step_s = point.step_s;
    speedup = point.speedup;
  }
  EXPECT_GT(speedup, 2);  // more than large jobs gain: LargeJobsGainLittle
  const FusedPoint& full = report.points[report.points.size() - 2];
  EXPECT_LT(report.points.back().speedup, 1.1 * full.speedup);
}

TEST(FusedStudy, LargeJobsGainLittle) {
  const Case large = fused_case(
      "{layers: 4, hidden: 4096, heads: 32, vocabulary: 32000, sequence: "
      "1024}",
      4);
  for (const FusedPoint& point : fused_report(large, 8).points) {
    EXPECT_GE(point.speedup, 1);
    EXPECT_LT(point.speedup, 1.2) << point.jobs;
  }
}

TEST(FusedStudy, MemoryLimitsHowManyThereAre) {
  const Case the_case = fused_case(
      "{layers: 12, hidden: 768, heads: 12, vocabulary: 32000, sequence: "
      "512}",
      4);
  const FusedReport report = fused_report(the_case, 64);
  EXPECT_GT(report.most_jobs, 1);
  EXPECT_LT(report.most_jobs, 64);
  for (const FusedPoint& point : report.points) {
    EXPECT_EQ(point.fits, point.jobs <= report.most_jobs) << point.jobs;
  }
  ASSERT_NE(report.best(), nullptr);
  EXPECT_LE(report.best()->jobs, report.most_jobs);
  // All memory grows with the number of jobs, except for a part that exists once.
  const double once = 2 * report.points[0].memory_bytes - report.points[1].memory_bytes;
  EXPECT_GT(once, 0);
  EXPECT_LT(once, 0.5 * report.points[0].memory_bytes);
}

TEST(FusedStudy, WithoutRoomThereIsNoBest) {
  FusedReport report;
  report.points = {{.jobs = 1, .fits = false}};
  EXPECT_EQ(report.best(), nullptr);
}

// Fused jobs are plain PyTorch modules unless software is named; these take a fifth of the CPU time
// of Transformer Engine.
TEST(FusedStudy, JobsAreThoseOfHfta) {
  const auto share = [](const std::string& software) {
    return parse_case(
               "name: a\nmodel: resnet-18-cifar\ncluster: {nodes: 1, node: {base: dgx-v100, "
               "gpus: 1}}\nprecision: fp16\nbatch: {global: 32, micro: 32}\nfuse: 64\n" +
                   software,
               "a.yaml")
        .job.software.host_share;
  };
  EXPECT_EQ(share(""), 0.2);
  EXPECT_EQ(share("software: {optimizer: momentum}\n"), 0.2);
  EXPECT_EQ(share("software: {host_share: 0.5}\n"), 0.5);
  EXPECT_EQ(share("software: megatron\n"), 1);
}

// Published: up to 15.1 times the throughput of separate jobs (arXiv 2102.02344), depending on
// model, batch and accelerator. A separate job has a GPU to itself and is as fast as its kernels
// and launches allow. Missed on an A100 at a batch of one, which leaves most of it idle: we predict
// 16 times with 64 jobs. The paper's models, and the batches of its largest gain, differ from ours.
TEST(FusedStudy, GainsAreOfThePublishedOrderButForABatchOfOne) {
  constexpr double kPublished = 15.1;
  for (const char* gpu : {"dgx-v100", "dgx-a100"}) {
    for (const char* batch : {"1", "4", "32"}) {
      const Case the_case = parse_case(
          fmt::format(
              "name: a\nmodel: resnet-18-cifar\ncluster: {{nodes: 1, node: {{base: {}, gpus: "
              "1, nics: 1}}}}\nprecision: fp16\nbatch: {{global: {}, micro: {}}}\nfuse: "
              "64\n",
              gpu, batch, batch),
          "a.yaml");
      const FusedReport report = fused_report(the_case, 64);
      ASSERT_NE(report.best(), nullptr);
      fmt::print("{} batch {}: {:.1f} times with {} jobs\n", gpu, batch, report.best()->speedup,
                 report.best()->jobs);
      EXPECT_GE(report.best()->speedup, 1) << gpu << batch;
      if (std::string_view(gpu) == "dgx-a100" && std::string_view(batch) == "1") {
        EXPECT_NEAR(report.best()->speedup, 16.2, 0.2);
        EXPECT_GT(report.best()->speedup, kPublished) << "no longer missed: say so in the docs";
        continue;
      }
      EXPECT_LE(report.best()->speedup, kPublished) << gpu << batch;
    }
  }
}

}  // namespace
}  // namespace windtunnel

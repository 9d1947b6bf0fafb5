#include "validate/accuracy/samples/sample_accuracy.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "models/calibration/kernel_law_fit.hpp"
#include "models/network/collectives/collective.hpp"
#include "scenarios/language/library/calibration_writer.hpp"
#include "scenarios/language/library/kernel_laws.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {
namespace {

// Returns a sample of a machine without noise that copies at 10 GB/s, quantises at half that rate
// and multiplies at 100 GFLOP/s.
Sample timed(const std::string& text, SampleRole role) {
  Sample sample;
  sample.work = parse_kernel_steps(text);
  sample.role = role;
  for (const std::vector<KernelWork>& step : sample.work) {
    const KernelKind& kind = kernel_kind(step[0].kernel);
    const double rate = kind.name == "copy" ? 1e10 : 5e9;
    sample.median_s +=
        1e-6 + (kind.name == "gemm" ? kind.flops(step[0]) / 1e11 : kind.bytes(step[0]) / rate);
  }
  sample.low_s = sample.high_s = sample.p05_s = sample.p95_s = sample.median_s;
  return sample;
}

SampleFile a_run() {
  SampleFile file;
  for (int size = 1 << 12; size <= 1 << 26; size *= 4) {
    file.runs.push_back(timed(fmt::format("copy bytes={}", size), SampleRole::fit));
    file.runs.push_back(timed(fmt::format("quantise-int8 elements={}", size), SampleRole::fit));
  }
  for (const int n : {64, 128, 256, 512, 1024}) {
    file.runs.push_back(timed(fmt::format("gemm type=fp32 m={0} n={0} k={0}", n), SampleRole::fit));
  }
  file.runs.push_back(
      timed("quantise-int8 elements=1000000 > copy bytes=1250000", SampleRole::judge));
  file.runs.push_back(timed("copy bytes=3000000", SampleRole::judge));
  // The repeated sample takes a third more at the end, so the run proves little.
  file.runs.push_back(timed("copy bytes=4096", SampleRole::again));
  file.runs.back().median_s *= 1.3;
  file.runs.push_back(timed("xor k=4 m=1 bytes=64", SampleRole::judge));
  return file;
}

TEST(Samples, CompositionsAndSizesBetweenAreJudgedApart) {
  const SampleFile file = a_run();
  const ValidationReport report = validate_samples(file, fit_kernel_laws(file.runs));
  ASSERT_EQ(report.families.size(), 2U);
  EXPECT_EQ(report.families[0].name, "compositions");
  EXPECT_EQ(report.families[0].rows, 1);
  EXPECT_LT(report.families[0].mape, 0.01);
  EXPECT_EQ(report.families[1].rows, 1);
  EXPECT_EQ(report.families[1].fitted, 21);
  EXPECT_EQ(report.families[1].coverage90, 1.0);
  ASSERT_EQ(report.skipped.size(), 1U);
  EXPECT_NE(report.skipped[0].reason.find("xor"), std::string::npos);
}

TEST(Samples, WhatRanBesideOthersIsPredictedSo) {
  SampleFile file = a_run();
  for (Sample& sample : file.runs) {
    if (sample.role != SampleRole::judge || sample.work.size() == 1) continue;
    sample.disturbed = 0.4;
    sample.median_s *= std::exp(0.4 * Slowdown{}.log);
  }
  const ValidationReport report = validate_samples(file, fit_kernel_laws(file.runs));
  ASSERT_EQ(report.families.size(), 2U);
  EXPECT_EQ(report.families[0].rows, 1);
  EXPECT_LT(report.families[0].mape, 0.01);
  EXPECT_EQ(report.skipped.size(), 1U);
}

TEST(Samples, LawsBecomeACalibration) {
  const KernelLaws laws = fit_kernel_laws(a_run().runs);
  const DeviceRates rates = device_rates(laws);
  EXPECT_NEAR(rates.memory_Bps, 1e10, 1e8);
  EXPECT_NEAR(rates.flops, 1e11, 1e9);
  Calibration alone = calibration_of(laws, calibration_of("generic"), {.source = "a test"});
  alone.name = "mine";
  const std::string text = calibration_text(alone, "a test");
  EXPECT_EQ(read_calibration(parse_document(text, "mine.yaml")).memory_efficiency.value, 1);
  EXPECT_EQ(alone.memory_efficiency.value, 1);
  EXPECT_EQ(alone.gemm_efficiency.origin, Origin::measured);
  EXPECT_NEAR(kernel_share(alone, "quantise blocks")->value, 0.5, 0.01);
  GpuSpec spec;
  spec.memory_Bps.value = 2e10;
  spec.fp32_flops.value = 4e11;
  const Calibration of_spec =
      calibration_of(laws, calibration_of("generic"),
                     {.kind = DeviceKind::cuda, .spec = &spec, .source = "a test"});
  EXPECT_NEAR(of_spec.memory_efficiency.value, 0.5, 0.01);
  EXPECT_NEAR(of_spec.gemm_efficiency.value, 0.25, 0.01);
}

// Returns laws of collectives that follow the constants exactly, for two and four ranks; other
// numbers of ranks use the constants.
KernelLaws with_collectives(double launch_s, double step_s, double port_Bps) {
  KernelLaws laws;
  const auto add = [&](const char* kernel, int ranks, double rounds) {
    KernelLaw law;
    law.key = fmt::format("{} ranks={}", kernel, ranks);
    law.least = 1e3;
    law.most = 1e8;
    const auto seconds = [&](double bytes) {
      return launch_s + rounds * ((ranks - 1) * step_s + bytes * (ranks - 1) / ranks / port_Bps);
    };
    law.curve.sizes = {law.least, law.most};
    law.curve.seconds = {seconds(law.least), seconds(law.most)};
    laws.laws.push_back(law);
  };
  for (const int ranks : {2, 4}) {
    add("all-reduce-ring", ranks, 2);
    add("all-gather-ring", ranks, 1);
    add("all-to-all-pairwise", ranks, 1);
  }
  KernelLaw send;
  send.key = "send";
  send.curve.sizes = {1e3, 1e8};
  send.curve.seconds = {25e-6, 0.1};
  laws.laws.push_back(send);
  return laws;
}

// The law of a product with a single matrix has no shapes.
TEST(Samples, LawsOfAllProductsReadBack) {
  SampleFile file = a_run();
  for (const int m : {256, 512, 1024, 2048}) {
    file.runs.push_back(timed(fmt::format("orthonormalise m={} k=4", m), SampleRole::fit));
  }
  const KernelLaws laws = fit_kernel_laws(file.runs);
  EXPECT_EQ(find_law(laws, "gemm type=fp32")->shapes.size(), 5U);
  EXPECT_TRUE(find_law(laws, "orthonormalise")->shapes.empty());
  const std::string text = kernel_laws_text(laws);
  EXPECT_EQ(kernel_laws_text(read_kernel_laws(parse_document(text, "a.yaml").entries[0].value)),
            text);
}

TEST(Samples, CollectivesGiveTheConstantsOfOtherGroups) {
  const KernelLaws laws = with_collectives(30e-6, 15e-6, 2e9);
  EXPECT_NEAR(device_rates(laws).port_Bps, 2e9, 1e3);
  const Calibration alone = calibration_of(laws, calibration_of("generic"), {.source = "a test"});
  EXPECT_NEAR(alone.collective_launch_s.value, 30e-6, 1e-9);
  EXPECT_NEAR(alone.nvlink_latency_s.value, 15e-6, 1e-9);
  EXPECT_NEAR(alone.p2p_launch_s.value, 10e-6, 1e-9);
  EXPECT_EQ(alone.nvlink_efficiency.value, 1) << "of device_rates().port_Bps";
  EXPECT_EQ(alone.collective_launch_s.origin, Origin::measured);
  const Calibration of_port =
      calibration_of(laws, calibration_of("generic"), {.port_Bps = 5e9, .source = "a test"});
  EXPECT_NEAR(of_port.nvlink_efficiency.value, 0.4, 1e-6);

  Cluster cluster;
  cluster.node.gpus = 3;
  cluster.node.nvlink_Bps.value = 5e9;
  const std::vector<std::int32_t> gpus = {0, 1, 2};
  const double seconds = collective_cost(CollectiveKind::all_reduce, CollectiveAlgorithm::ring,
                                         group_shape(gpus, cluster), 6e6, cluster, of_port)
                             .seconds;
  EXPECT_NEAR(seconds, 30e-6 + 4 * 15e-6 + 2 * 6e6 * 2 / 3 / 2e9, 1e-8);
}

TEST(Samples, ACpuLaunchesNothing) {
  const Calibration base = calibration_of("generic");
  const Calibration cpu = calibration_of({}, base, {.source = "a test"});
  for (const Parameter* parameter : {&cpu.kernel_launch_s, &cpu.host_launch_s}) {
    EXPECT_EQ(parameter->value, 0);
    EXPECT_EQ(parameter->origin, Origin::spec);
  }
  EXPECT_EQ(cpu.overlap_slowdown.value, 1);
  const Calibration gpu = calibration_of({}, base, {.kind = DeviceKind::cuda, .source = "a test"});
  EXPECT_EQ(gpu.host_launch_s.value, base.host_launch_s.value);
  EXPECT_EQ(gpu.overlap_slowdown.value, base.overlap_slowdown.value);
}

}  // namespace
}  // namespace windtunnel

#include "scenarios/language/library/facts/attention_kernels.hpp"

#include <gtest/gtest.h>

#include "scenarios/language/case.hpp"
#include "scenarios/language/library/library.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

using Names = std::vector<std::string>;

TEST(AttentionKernels, EveryOneRunsBothWaysOnGpusOfTheLibraryBelowTheirPeak) {
  int found = 0;
  for (const AttentionKernelEntry& kernel : attention_kernels()) {
    for (const GpuSpec& gpu : library_gpus()) {
      const auto speeds = attention_speeds(kernel.name, gpu.name);
      if (speeds == nullptr) continue;
      ++found;
      EXPECT_FALSE(kernel.help.empty());
      for (const bool backward : {false, true}) {
        for (const bool causal : {false, true}) {
          for (const double width : {32.0, 64.0, 128.0, 192.0, 256.0}) {
            const double share =
                attention_share(*speeds, backward, causal, width, 16384, {400, 50}).of_peak;
            EXPECT_GT(share, 0.1) << kernel.name << " on " << gpu.name;
            EXPECT_LT(share, 0.95) << kernel.name << " on " << gpu.name;
          }
        }
      }
      EXPECT_LE(speeds->in_step.value, speeds->alone.value);
      for (const AttentionCurve& curve : speeds->curves) EXPECT_FALSE(curve.source.empty());
    }
  }
  EXPECT_GT(found, 40);
}

// Shah et al. 2024 (arXiv 2407.08608) report 1.5 to 2 times FlashAttention-2's speed forward, and
// 1.5 to 1.75 times backward.
TEST(AttentionKernels, FlashAttention3BesideItsPredecessor) {
  for (const bool backward : {false, true}) {
    const auto share = [&](const char* kernel) {
      return attention_share(*attention_speeds(kernel, "h100"), backward, true, 128, 16384,
                             {320, 50})
          .of_peak;
    };
    EXPECT_GT(share("fa3") / share("fa2"), 1.5);
    EXPECT_LT(share("fa3") / share("fa2"), 2);
  }
}

// github.com/pytorch/pytorch pull request 192799: forward and backward, cuDNN's kernel is slower
// than FlashAttention-2 on A100 and faster on compute capability 8.6 and 8.9.
TEST(AttentionKernels, CudnnPassesFlashAttention2BehindA100Alone) {
  const auto ratio = [](const char* gpu, bool backward) {
    const auto share = [&](const char* kernel) {
      return attention_share(*attention_speeds(kernel, gpu), backward, false, 128, 16384, {320, 50})
          .of_peak;
    };
    return share("cudnn9") / share("fa2");
  };
  for (const bool backward : {false, true}) {
    EXPECT_LT(ratio("a100-80", backward), 1);
    EXPECT_GE(ratio("rtx-a6000", backward), 0.99);
    EXPECT_GT(ratio("l40s", backward), 1.1);
  }
  EXPECT_NEAR(ratio("rtx-a6000", false), 62.419 / 50.934, 0.01);
  EXPECT_NEAR(ratio("l40s", false), 106.036 / 85.933, 0.01);
}

TEST(AttentionKernels, GpusHaveTheKernelsThatAreWrittenForThem) {
  EXPECT_EQ(attention_kernels_on("a100-80"), (Names{"fa2", "cudnn9", "triton"}));
  EXPECT_EQ(attention_kernels_on("h100"), (Names{"fa2", "fa3", "fa4", "cudnn9", "triton"}));
  EXPECT_EQ(attention_kernels_on("b200"), (Names{"fa2", "fa4", "cudnn9", "triton"}));
  EXPECT_TRUE(attention_kernels_on("tpu-v4").empty());
}

Case named(const std::string& node, const std::string& more) {
  return parse_case("name: a\nmodel: llama3-8b\ncluster: {nodes: 1, node: " + node +
                        "}\nbatch: {global: 8}\n" + more,
                    "a.yaml");
}

TEST(AttentionKernels, AScenarioNamesOne) {
  EXPECT_EQ(named("dgx-h100", "").job.calibration.attention, nullptr);
  EXPECT_EQ(named("dgx-h100", "attention: fa3\n").job.calibration.attention->kernel, "fa3");
  const Case eager = named("dgx-h100", "attention: eager\n");
  EXPECT_EQ(eager.job.calibration.attention, nullptr);
  EXPECT_EQ(eager.job.model.attention, AttentionKernel::unfused);
}

TEST(AttentionKernels, WhatAGpuOrAModelHasNotIsRefused) {
  EXPECT_EQ(error_of([] { named("dgx-a100", "attention: fa3\n"); }),
            "a.yaml:5:12: attention: fa3 is not known on gpu 'a100-80'; known there are fa2, "
            "cudnn9, triton: take one of them, or take auto or eager");
  EXPECT_EQ(error_of([] { named("tpu-v4", "attention: fa2\n"); }),
            "a.yaml:5:12: attention: fa2 is not known on gpu 'tpu-v4'; no named kernel is known "
            "there: take auto or eager");
  EXPECT_EQ(error_of([] { named("dgx-h100", "attention: fa9\n"); }),
            "a.yaml:5:12: unknown attention 'fa9'; did you mean 'fa2'?");
  EXPECT_NE(error_of([] {
              parse_case(
                  "name: a\nmodel: {base: llama3-8b, attention: linear}\n"
                  "cluster: {nodes: 1, node: dgx-h100}\nbatch: {global: 8}\n"
                  "attention: cudnn9\n",
                  "a.yaml");
            }).find("model.attention"),
            std::string::npos);
}

}  // namespace
}  // namespace windtunnel

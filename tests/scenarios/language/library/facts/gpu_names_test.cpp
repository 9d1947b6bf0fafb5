#include "scenarios/language/library/facts/gpu_names.hpp"

#include <gtest/gtest.h>

#include "models/base/error.hpp"
#include "scenarios/language/library/library.hpp"

namespace windtunnel {
namespace {

TEST(GpuNames, TheFirstInTheTextAndThereTheLongest) {
  const auto node_of = [](const char* text) { return gpu_named(text, true).node; };
  EXPECT_EQ(node_of("H100/H200 SXM (not stated which)"), "dgx-h100");
  EXPECT_EQ(node_of("NVIDIA GB200"), "gb200-nvl72");  // not taken for a B200
  EXPECT_EQ(node_of("H20"), "hgx-h20");
  EXPECT_EQ(node_of("H200 NVL (PCIe)"), "pcie-h200-nvl");
  EXPECT_EQ(node_of("V100-16GB"), "aws-p3");
  for (const char* text : {"A100-SXM4-40GB", "A100 40GB", "a100_40gb", "A100 SXM 40 GB"}) {
    EXPECT_EQ(node_of(text), "dgx-a100-40") << text;
    EXPECT_EQ(gpu_named(text, false).kind, "a100") << text;
  }
  for (const char* text : {"A100-SXM4-80GB", "A100", "a100_80gb"}) {
    EXPECT_EQ(node_of(text), "dgx-a100") << text;
  }
}

TEST(GpuNames, WhatStandsForAnotherOnlyWhereThatWillDo) {
  EXPECT_FALSE(gpu_named("A40", true).instead.empty());
  EXPECT_THROW(gpu_named("A40", false), Error);
  EXPECT_THROW(gpu_named("TPU v5e", true), Error);
}

// The names of the library's GPUs are recognised.
TEST(GpuNames, TheLibrarysGpus) {
  for (const char* gpu : {"v100", "t4", "a100-40", "a100-80", "h100", "h200", "b200", "gb300",
                          "h800", "a800", "h20", "l40s", "mi300x", "mi325x", "mi355x", "rtx4090"}) {
    const GpuName& name = gpu_named(gpu, false);
    EXPECT_EQ(find_node(name.node).gpu.generation, find_gpu(gpu).generation) << gpu;
    EXPECT_TRUE(name.instead.empty()) << gpu;
  }
}

}  // namespace
}  // namespace windtunnel

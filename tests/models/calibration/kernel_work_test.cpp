#include "models/calibration/kernel_work.hpp"

#include <gtest/gtest.h>

#include <random>

#include "models/calibration/compression_kernels.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

std::string fault_in(std::string_view text) {
  return error_of([&] { parse_kernel_steps(text); });
}

TEST(KernelWork, TextOfEveryKindReadsBack) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> size(1, 1 << 20);
  for (const KernelKind& kind : kernel_kinds()) {
    KernelWork work;
    work.kernel = kind.name;
    for (const std::string_view key : kind.sizes) {
      if (key == "type") work.precision = Precision::bf16;
      if (key == "m") work.m = size(random);
      if (key == "n") work.n = size(random);
      if (key == "k") work.k = size(random);
      if (key == "elements") work.elements = size(random);
      if (key == "bytes") work.bytes = size(random);
      if (key == "ranks") work.ranks = size(random) % 64 + 1;
    }
    const std::string text = to_text({{work}, {work, work}});
    EXPECT_EQ(to_text(parse_kernel_steps(text)), text);
    EXPECT_GT(kind.bytes(work), 0) << kind.name;
    EXPECT_TRUE(kind.share.empty() || find_compression_kernel(kind.share) != nullptr) << kind.name;
  }
}

TEST(KernelWork, StepsFollowEachOtherAndWorksStandSideBySide) {
  const KernelSteps steps =
      parse_kernel_steps("quantise-int8 elements=1024 > gemm type=bf16 m=2 n=3 k=4 & copy bytes=5");
  ASSERT_EQ(steps.size(), 2U);
  ASSERT_EQ(steps[1].size(), 2U);
  EXPECT_EQ(steps[0][0].elements, 1024);
  EXPECT_EQ(steps[1][0].precision, Precision::bf16);
  EXPECT_EQ(kernel_kind("gemm").flops(steps[1][0]), 48);
  EXPECT_EQ(kernel_kind("gemm").bytes(steps[1][0]), 2 * (2 * 4 + 4 * 3 + 2 * 3));
  EXPECT_EQ(steps[1][1].bytes, 5);
}

TEST(KernelWork, FaultsNameTheWord) {
  EXPECT_NE(fault_in("gem type=fp32 m=1 n=1 k=1").find("did you mean 'gemm'"), std::string::npos);
  EXPECT_NE(fault_in("copy elements=3").find("'elements=3'"), std::string::npos);
  EXPECT_NE(fault_in("copy bytes=-3").find("'bytes=-3'"), std::string::npos);
  EXPECT_NE(fault_in("copy bytes=3x").find("'bytes=3x'"), std::string::npos);
  EXPECT_NE(fault_in("copy bytes=nan").find("'bytes=nan'"), std::string::npos);
  EXPECT_NE(fault_in("gemm type=fp31 m=1 n=1 k=1").find("fp32, tf32"), std::string::npos);
  EXPECT_NE(fault_in("gemm type=fp32 m=1 m=1 k=1").find("each once"), std::string::npos);
  EXPECT_NE(fault_in("copy bytes=1 > ").find("expected a kernel"), std::string::npos);
  EXPECT_NE(fault_in("").find("expected a kernel"), std::string::npos);
}

}  // namespace
}  // namespace windtunnel

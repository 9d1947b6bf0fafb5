#include "tests/kernels/product/gemm_properties.hpp"

namespace windtunnel {
namespace {

TEST(Gemm, ProductsAreExact) {
  expect_products(DeviceKind::cpu, GemmType::fp32);
}

TEST(Gemm, CpuSaysWhyNotOtherTypes) {
  const Gemm& cpu = gemm(DeviceKind::cpu);
  EXPECT_EQ(cpu.why_unusable(GemmType::fp32), "");
  for (const GemmType type : {GemmType::tf32, GemmType::fp16, GemmType::bf16, GemmType::fp8}) {
    EXPECT_EQ(cpu.why_unusable(type), "the CPU backend multiplies only fp32");
    EXPECT_THROW(cpu.prepared({type, 1, 1, 1}), Error);
  }
}

TEST(Gemm, RefusesWhatCannotBe) {
  EXPECT_THROW(gemm(DeviceKind::cpu).prepared({GemmType::fp32, 0, 1, 1}), InternalError);
  if (!gemm(DeviceKind::cuda).why_unusable(GemmType::fp32).empty()) {
    EXPECT_THROW(gemm(DeviceKind::cuda).prepared({GemmType::fp32, 1, 1, 1}), Error);
  }
}

// The tests encode numbers themselves; the encoding must give published bit patterns (OCP 8-bit
// floating point specification, revision 1.0; IEEE 754).
TEST(Gemm, FormatsOfTheTests) {
  EXPECT_EQ(encoded(1, {5, 10}), 0x3c00U);
  EXPECT_EQ(encoded(-1, {8, 7}), 0xbf80U);
  EXPECT_EQ(encoded(1, {4, 3}), 0x38U);
  EXPECT_EQ(encoded(-1, {8, 23}), 0xbf800000U);
  for (int value = -256; value <= 256; ++value) {
    for (const FloatFormat format : {FloatFormat{5, 10}, FloatFormat{8, 7}, FloatFormat{8, 23}}) {
      EXPECT_EQ(decoded(encoded(value, format), format), value);
    }
  }
}

}  // namespace
}  // namespace windtunnel

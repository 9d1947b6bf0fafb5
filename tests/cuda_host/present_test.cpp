// The tests of devices skip where there is no device; the host emulation has one, with its
// libraries.
#include <gtest/gtest.h>

#include "kernels/device/device.hpp"
#include "kernels/product/gemm.hpp"
#include "kernels/product/low_rank.hpp"

namespace windtunnel {
namespace {

TEST(CudaHost, HasADeviceAndItsLibraries) {
  EXPECT_EQ(device(DeviceKind::cuda).why_unusable(), "");
  EXPECT_EQ(device(DeviceKind::cuda).count(), 1);
  EXPECT_EQ(low_rank(DeviceKind::cuda).why_unusable(), "");
  for (const GemmType type :
       {GemmType::fp32, GemmType::tf32, GemmType::fp16, GemmType::bf16, GemmType::fp8}) {
    EXPECT_EQ(gemm(DeviceKind::cuda).why_unusable(type), "");
  }
}

}  // namespace
}  // namespace windtunnel

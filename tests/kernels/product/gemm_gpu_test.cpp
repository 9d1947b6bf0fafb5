#include "tests/kernels/gpu_fixture.hpp"
#include "tests/kernels/product/gemm_properties.hpp"

namespace windtunnel {
namespace {

class GemmGpu : public GpuTest, public ::testing::WithParamInterface<GemmType> {};

TEST_P(GemmGpu, ProductsAreExact) {
  const std::string reason = gemm(DeviceKind::cuda).why_unusable(GetParam());
  if (!reason.empty()) GTEST_SKIP() << reason;
  expect_products(DeviceKind::cuda, GetParam());
}

// A product is captured into a graph like any kernel: its replay takes time.
TEST_P(GemmGpu, CanBeTimed) {
  const std::string reason = gemm(DeviceKind::cuda).why_unusable(GetParam());
  if (!reason.empty()) GTEST_SKIP() << reason;
  const Device& where = device(DeviceKind::cuda);
  const DeviceBuffer a(where, 4 << 20), b(where, 4 << 20), c(where, 4 << 20);
  const auto work =
      gemm(DeviceKind::cuda).prepared({GetParam(), 1024, 1024, 1024, a.data(), b.data(), c.data()});
  int calls = 0;
  const auto counted = [&] {
    ++calls;
    work();
  };
  EXPECT_GT(where.time_s(counted, 10), 1e-6);
  EXPECT_EQ(calls, 11);  // more calls would mean no capture
}

std::string name_of(const ::testing::TestParamInfo<GemmType>& info) {
  constexpr const char* kNames[] = {"fp32", "tf32", "fp16", "bf16", "fp8"};
  return kNames[static_cast<int>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Types, GemmGpu,
                         ::testing::Values(GemmType::fp32, GemmType::tf32, GemmType::fp16,
                                           GemmType::bf16, GemmType::fp8),
                         name_of);

}  // namespace
}  // namespace windtunnel

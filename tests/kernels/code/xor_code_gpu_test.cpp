#include "tests/kernels/code/xor_code_properties.hpp"
#include "tests/kernels/gpu_fixture.hpp"

namespace windtunnel {
namespace {

using XorCodeGpu = GpuTest;

TEST_F(XorCodeGpu, RebuildsAnyOneBlock) {
  expect_rebuilds_for_many_sizes(DeviceKind::cuda);
}

// More blocks than one launch takes.
TEST_F(XorCodeGpu, RebuildsWideGroups) {
  expect_rebuilds(DeviceKind::cuda, {200, 1000, 0, 1});
  expect_rebuilds(DeviceKind::cuda, {200, 1000, 3, 2});
}

// There are more words than threads, so every thread takes several.
TEST_F(XorCodeGpu, RebuildsLargeBlocks) {
  expect_rebuilds(DeviceKind::cuda, {3, (std::size_t{64} << 20) + 5, 0, 3});
}

}  // namespace
}  // namespace windtunnel

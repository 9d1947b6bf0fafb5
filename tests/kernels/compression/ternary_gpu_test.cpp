#include "tests/kernels/compression/ternary_properties.hpp"
#include "tests/kernels/gpu_fixture.hpp"

namespace windtunnel {
namespace {

using TernaryGpu = GpuTest;

TEST_F(TernaryGpu, CodesAreThoseOfTheDefinition) {
  expect_ternary_of_all_inputs(DeviceKind::cuda);
}

// There are more tiles than warps, so every warp takes several.
TEST_F(TernaryGpu, LargeArrays) {
  RandomStream random(1, RandomPurpose::test, 0);
  expect_ternary(DeviceKind::cuda, random_floats(random, (std::size_t{20} << 20) + 5), 7);
}

}  // namespace
}  // namespace windtunnel

#include "tests/kernels/compression/sketch_properties.hpp"
#include "tests/kernels/gpu_fixture.hpp"

namespace windtunnel {
namespace {

using SketchGpu = GpuTest;

TEST_F(SketchGpu, CountersAndMediansAreThoseOfTheDefinition) {
  expect_sketches_of_all_inputs(DeviceKind::cuda);
}

// There are more tiles than warps, so every warp takes several.
TEST_F(SketchGpu, LargeArrays) {
  RandomStream random(1, RandomPurpose::test, 0);
  expect_sketch(DeviceKind::cuda, random_floats(random, (std::size_t{40} << 20) + 5), 7, 1 << 20);
}

}  // namespace
}  // namespace windtunnel

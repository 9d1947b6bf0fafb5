#include "tests/kernels/compression/top_k_properties.hpp"
#include "tests/kernels/gpu_fixture.hpp"

namespace windtunnel {
namespace {

using TopKGpu = GpuTest;

TEST_F(TopKGpu, SelectsWhatASortDoes) {
  expect_selections_of_all_inputs(DeviceKind::cuda);
}

TEST_F(TopKGpu, RandomChoicesAreOneFromEachPart) {
  expect_random_choices(DeviceKind::cuda);
}

// There are more tiles than blocks, so every block takes several.
TEST_F(TopKGpu, LargeArrays) {
  RandomStream random(1, RandomPurpose::test, 0);
  const std::size_t size = (std::size_t{20} << 20) + 5;
  for (const Floats& x : {random_floats(random, size), Floats(size, 1.5F)}) {
    EXPECT_EQ(selected(DeviceKind::cuda, x, size / 100), selected(DeviceKind::cpu, x, size / 100));
    expect_above(DeviceKind::cuda, x, 2.5F, size);
  }
}

}  // namespace
}  // namespace windtunnel

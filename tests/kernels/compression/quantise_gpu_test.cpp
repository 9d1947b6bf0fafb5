#include "tests/kernels/compression/quantise_properties.hpp"
#include "tests/kernels/gpu_fixture.hpp"

namespace windtunnel {
namespace {

using QuantiseGpu = GpuTest;

TEST_F(QuantiseGpu, CodesAndScalesAreThoseOfTheDefinition) {
  expect_plain_blocks_of_all_inputs(DeviceKind::cuda);
}

TEST_F(QuantiseGpu, RequantisedIsTheSumOfTheParts) {
  expect_requantised_sums(DeviceKind::cuda);
}

// There are more tiles than warps, so every warp takes several.
TEST_F(QuantiseGpu, LargeArraysEqualTheCpus) {
  RandomStream random(1, RandomPurpose::test, 0);
  const Floats x = random_floats(random, (std::size_t{10} << 20) + 5);
  for (const QuantisedForm form : kForms) {
    const QuantisedBlocks here = quantised(DeviceKind::cuda, form, x);
    const QuantisedBlocks there = quantised(DeviceKind::cpu, form, x);
    EXPECT_EQ(here.codes, there.codes);
    EXPECT_EQ(here.scales, there.scales);
    EXPECT_EQ(here.decoded, there.decoded);
  }
}

}  // namespace
}  // namespace windtunnel

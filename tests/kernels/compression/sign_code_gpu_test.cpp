#include "tests/kernels/compression/sign_code_properties.hpp"
#include "tests/kernels/gpu_fixture.hpp"

namespace windtunnel {
namespace {

using SignCodeGpu = GpuTest;

TEST_F(SignCodeGpu, SignsAndErrorsAreThoseOfTheDefinition) {
  expect_signs_of_all_inputs(DeviceKind::cuda);
}

TEST_F(SignCodeGpu, MajorityIsThatOfACount) {
  expect_votes(DeviceKind::cuda);
}

// There are more tiles than warps, so every warp takes several.
TEST_F(SignCodeGpu, LargeArrays) {
  RandomStream random(1, RandomPurpose::test, 0);
  const Floats x = random_floats(random, (std::size_t{40} << 20) + 5);
  expect_packs_and_unpacks(DeviceKind::cuda, x);
  expect_error_feedback(DeviceKind::cuda, random, x);
}

}  // namespace
}  // namespace windtunnel

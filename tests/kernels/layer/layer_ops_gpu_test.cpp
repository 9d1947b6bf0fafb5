#include "tests/kernels/gpu_fixture.hpp"
#include "tests/kernels/layer/layer_ops_properties.hpp"

namespace windtunnel {
namespace {

using LayerOpsGpu = GpuTest;

TEST_F(LayerOpsGpu, EqualPlainLoops) {
  expect_layer_ops(DeviceKind::cuda);
}

// More columns and elements than threads: every block strides.
TEST_F(LayerOpsGpu, EqualPlainLoopsOnLargeMatrices) {
  RandomStream random(12, RandomPurpose::test, 0);
  const std::size_t columns = 140003;
  const Floats x = random_floats(random, 11 * columns);
  expect_activation(DeviceKind::cuda, x, random_floats(random, columns), true);
  expect_gradients(DeviceKind::cuda, x, x, columns, true);
  expect_error_gradient(DeviceKind::cuda, x, x);
}

}  // namespace
}  // namespace windtunnel

#include "tests/kernels/layer/layer_ops_properties.hpp"

namespace windtunnel {
namespace {

TEST(LayerOps, EqualPlainLoops) {
  expect_layer_ops(DeviceKind::cpu);
}

}  // namespace
}  // namespace windtunnel

#include "kernels/layer/stream_ops.hpp"

#include "kernels/layer/adam_factors.hpp"
#include "models/base/error.hpp"
#include "tests/kernels/layer/stream_ops_properties.hpp"

namespace windtunnel {
namespace {

TEST(StreamOps, EqualPlainLoops) {
  expect_stream_ops(DeviceKind::cpu);
}

// Runs the CUDA form's arithmetic of one element on the host: a NaN stays in its element, and a
// zero gradient changes nothing.
TEST(StreamOps, AdamKeepsWhatHasNoGradient) {
  const AdamFactors factors = adam_factors({});
  float weight = 3;
  float mean = 0;
  float variance = 0;
  adam_update(factors, 0, weight, mean, variance);
  EXPECT_EQ(weight, 3);
  adam_update(factors, std::nanf(""), weight, mean, variance);
  EXPECT_TRUE(std::isnan(weight) && std::isnan(mean) && std::isnan(variance));
}

// The first step is the learning rate, whatever the gradient (Kingma and Ba, section 2.1).
TEST(StreamOps, FirstStepOfAdamIsTheLearningRate) {
  for (const float gradient : {1e-3F, -2.0F, 1e4F}) {
    float weight = 0;
    float mean = 0;
    float variance = 0;
    adam_update(adam_factors({}), gradient, weight, mean, variance);
    EXPECT_NEAR(weight, gradient > 0 ? -1e-3 : 1e-3, 1e-7);
  }
}

TEST(StreamOps, RefuseWhatCannotBe) {
  EXPECT_THROW(adam_factors({1e-3, 1.0, 0.999, 1e-8, 1}), InternalError);
  EXPECT_THROW(adam_factors({1e-3, 0.9, 0.999, 1e-8, 0}), InternalError);
  EXPECT_THROW(copy_beside(DeviceKind::cpu, nullptr, nullptr, 0, 0), InternalError);
}

}  // namespace
}  // namespace windtunnel

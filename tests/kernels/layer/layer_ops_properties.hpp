// What must hold of a layer's element-wise work on any device; one test file per device calls it.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/layer/layer_ops.hpp"
#include "tests/kernels/float_inputs.hpp"

namespace windtunnel {

inline void expect_activation(DeviceKind kind, const Floats& x, const Floats& bias, bool relu) {
  const std::size_t columns = bias.size();
  const DeviceFloats on_device(kind, x);
  const DeviceFloats bias_there(kind, bias);
  layer_ops(kind).activate(bias_there.data(), relu, x.size() / columns, columns, on_device.data());
  device(kind).synchronize();
  Floats expected(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float sum = x[i] + bias[i % columns];
    expected[i] = relu && sum < 0 ? 0 : sum;
  }
  expect_same(on_device.download(), expected);
}

// The sum of a column is off by at most (rows - 1) roundings of the sum of its |x|.
inline void expect_gradients(DeviceKind kind, const Floats& y, const Floats& gradient,
                             std::size_t columns, bool relu) {
  const std::size_t rows = gradient.size() / columns;
  const DeviceFloats outputs(kind, y);
  const DeviceFloats dy(kind, gradient);
  const DeviceFloats bias(kind, Floats(columns, std::nanf("")));
  layer_ops(kind).activation_gradient(relu ? outputs.data() : nullptr, rows, columns, dy.data(),
                                      bias.data());
  device(kind).synchronize();
  Floats expected = gradient;
  std::vector<double> sums(columns), sizes(columns);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (relu && !(y[i] > 0)) expected[i] = 0;
    sums[i % columns] += expected[i];
    sizes[i % columns] += std::abs(expected[i]);
  }
  expect_same(dy.download(), expected);
  const Floats found = bias.download();
  for (std::size_t j = 0; j < columns; ++j) {
    ASSERT_NEAR(found[j], sums[j], static_cast<double>(rows) * 6e-8 * sizes[j]) << "column " << j;
  }
}

inline void expect_error_gradient(DeviceKind kind, const Floats& y, const Floats& target) {
  const DeviceFloats outputs(kind, y);
  const DeviceFloats targets(kind, target);
  const DeviceFloats dy(kind, Floats(y.size()));
  layer_ops(kind).error_gradient(outputs.data(), targets.data(), 0.3F, y.size(), dy.data());
  device(kind).synchronize();
  Floats expected(y.size());
  for (std::size_t i = 0; i < y.size(); ++i) expected[i] = 0.3F * (y[i] - target[i]);
  expect_same(dy.download(), expected);
}

inline void expect_layer_ops(DeviceKind kind) {
  RandomStream random(12, RandomPurpose::test, 0);
  for (int i = 0; i < 40; ++i) {
    const std::size_t rows = random.below(70);
    const std::size_t columns = 1 + random.below(300);
    SCOPED_TRACE(::testing::Message() << rows << " x " << columns);
    const Floats bias = random_floats(random, columns);
    const Floats gradient = random_floats(random, rows * columns);
    for (const auto& [name, x] : kinds_of_floats(random, rows * columns)) {
      SCOPED_TRACE(name);
      expect_activation(kind, x, bias, i % 2 == 0);
      expect_gradients(kind, x, gradient, columns, i % 2 == 0);
      expect_error_gradient(kind, x, gradient);
    }
  }
}

}  // namespace windtunnel

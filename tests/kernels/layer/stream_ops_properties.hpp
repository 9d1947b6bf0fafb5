// What must hold of streaming kernels on any device; one test file per device calls it.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/layer/stream_ops.hpp"
#include "tests/kernels/float_inputs.hpp"

namespace windtunnel {

inline void expect_adds_and_scales(DeviceKind kind, const Floats& a, const Floats& b,
                                   std::size_t offset) {
  const DeviceFloats left(kind, a, offset);
  const DeviceFloats right(kind, b);
  const DeviceFloats sum(kind, Floats(a.size()));
  const DeviceFloats scaled(kind, Floats(a.size()), offset);
  const StreamOps& ops = stream_ops(kind);
  ops.add(left.data(), right.data(), sum.data(), a.size());
  ops.scale(-1.7F, left.data(), scaled.data(), a.size());
  ops.add(left.data(), right.data(), left.data(), a.size());  // in place
  device(kind).synchronize();
  Floats plain_sum(a.size()), plain_scaled(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    plain_sum[i] = a[i] + b[i];
    plain_scaled[i] = -1.7F * a[i];
  }
  expect_same(sum.download(), plain_sum);
  expect_same(scaled.download(), plain_scaled);
  expect_same(left.download(), plain_sum);
}

// Compares three steps with the published algorithm in double. The tolerance allows for some eight
// roundings in fp32, 2^-24 of the largest term each.
inline void expect_adam_steps(DeviceKind kind, RandomStream& random, std::size_t size,
                              std::size_t offset) {
  const Floats start = random_floats(random, size);
  const DeviceFloats weight(kind, start, offset);
  const DeviceFloats mean(kind, Floats(size), offset);
  const DeviceFloats variance(kind, Floats(size), offset);
  std::vector<double> w(start.begin(), start.end()), m(size), v(size);
  AdamSettings settings;
  settings.learning_rate = 0.01;
  for (settings.step = 1; settings.step <= 3; ++settings.step) {
    const Floats gradient = random_floats(random, size);
    const DeviceFloats on_device(kind, gradient, offset);
    stream_ops(kind).adam(settings, on_device.data(), weight.data(), mean.data(), variance.data(),
                          size);
    device(kind).synchronize();
    for (std::size_t i = 0; i < size; ++i) {
      const double g = gradient[i];
      m[i] = settings.beta1 * m[i] + (1 - settings.beta1) * g;
      v[i] = settings.beta2 * v[i] + (1 - settings.beta2) * g * g;
      const double unbiased_mean = m[i] / (1 - std::pow(settings.beta1, settings.step));
      const double unbiased_variance = v[i] / (1 - std::pow(settings.beta2, settings.step));
      w[i] -= settings.learning_rate * unbiased_mean /
              (std::sqrt(unbiased_variance) + settings.epsilon);
    }
  }
  const Floats weights = weight.download();
  const Floats means = mean.download();
  const Floats variances = variance.download();
  for (std::size_t i = 0; i < size; ++i) {
    ASSERT_NEAR(weights[i], w[i], 5e-7 * (1 + std::abs(w[i]))) << "element " << i;
    ASSERT_NEAR(means[i], m[i], 5e-7) << "element " << i;
    ASSERT_NEAR(variances[i], v[i], 5e-7 * v[i] + 1e-30) << "element " << i;
  }
}

inline void expect_sgd_step(DeviceKind kind, const Floats& gradient, const Floats& start,
                            std::size_t offset) {
  const DeviceFloats on_device(kind, gradient, offset);
  const DeviceFloats weight(kind, start);
  stream_ops(kind).sgd(0.3F, on_device.data(), weight.data(), start.size());
  device(kind).synchronize();
  Floats expected = start;
  for (std::size_t i = 0; i < start.size(); ++i) {
    volatile float change = 0.3F * gradient[i];  // volatile: no fused multiply-add
    expected[i] -= change;
  }
  expect_same(weight.download(), expected);
}

// Copies between every pair of memories, aligned and not, whole and in parts.
inline void expect_copies(DeviceKind kind, RandomStream& random) {
  const Device& where = device(kind);
  const std::size_t size_bytes = 1 + random.below(100000);
  const std::size_t offset = random.below(20);
  std::vector<std::byte> bytes(offset + size_bytes);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(256));
  constexpr MemoryKind kKinds[] = {MemoryKind::device, MemoryKind::pinned, MemoryKind::pageable};
  for (const MemoryKind source : kKinds) {
    for (const MemoryKind target : kKinds) {
      DeviceBuffer from(where, bytes.size(), source);
      DeviceBuffer to(where, bytes.size(), target);
      from.upload(bytes);
      to.upload(std::vector<std::byte>(bytes.size()));
      const int streams = static_cast<int>(random.below(9));
      if (streams == 0) {
        stream_ops(kind).copy(to.data() + offset, from.data() + offset, size_bytes);
      } else {
        copy_beside(kind, to.data() + offset, from.data() + offset, size_bytes, streams);
      }
      where.synchronize();
      std::vector<std::byte> expected = bytes;
      std::fill_n(expected.begin(), offset, std::byte{0});
      ASSERT_EQ(to.download(), expected) << streams << " streams";
    }
  }
}

inline void expect_stream_ops(DeviceKind kind) {
  RandomStream random(11, RandomPurpose::test, 0);
  for (const std::size_t size : {0, 1, 3, 4, 5, 31, 1024, 1025, 40003}) {
    const std::size_t offset = random.below(4);
    SCOPED_TRACE(::testing::Message() << size << " floats, offset " << offset);
    const auto right = kinds_of_floats(random, size);
    for (const auto& [name, left] : kinds_of_floats(random, size)) {
      SCOPED_TRACE(name);
      expect_adds_and_scales(kind, left, right[random.below(right.size())].second, offset);
      expect_sgd_step(kind, left, right.front().second, offset);
    }
    expect_adam_steps(kind, random, size, offset);
  }
  for (int i = 0; i < 20; ++i) expect_copies(kind, random);
}

}  // namespace windtunnel

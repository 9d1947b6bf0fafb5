// Arrays of floats such as gradients hold, and worst cases, with functions that copy them to a
// device.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "kernels/device/device.hpp"
#include "models/base/random.hpp"

namespace windtunnel {

using Floats = std::vector<float>;

inline Floats random_floats(RandomStream& random, std::size_t size) {
  Floats values(size);
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

// The kinds are "gaussian", "cauchy", "sparse" (99 % zeros), "constant", "denormal" and "not
// finite" (some elements).
inline std::vector<std::pair<std::string, Floats>> kinds_of_floats(RandomStream& random,
                                                                   std::size_t size) {
  Floats cauchy(size), sparse(size), denormal(size);
  Floats odd = random_floats(random, size);
  for (std::size_t i = 0; i < size; ++i) {
    cauchy[i] = static_cast<float>(std::tan(M_PI * (random.uniform() - 0.5)));
    sparse[i] = random.below(100) == 0 ? static_cast<float>(random.normal()) : 0.0F;
    denormal[i] = static_cast<float>(1e-40 * random.normal());
    constexpr float kOdd[] = {std::numeric_limits<float>::quiet_NaN(),
                              std::numeric_limits<float>::infinity(),
                              -std::numeric_limits<float>::infinity(), -0.0F};
    if (random.below(8) == 0) odd[i] = kOdd[random.below(4)];
  }
  return {{"gaussian", random_floats(random, size)}, {"cauchy", cauchy},     {"sparse", sparse},
          {"constant", Floats(size, 0.1F)},          {"denormal", denormal}, {"not finite", odd}};
}

inline std::vector<std::byte> bytes_of_floats(const Floats& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// Compares bits, but treats all NaNs as equal.
inline void expect_same(const Floats& actual, const Floats& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (std::isnan(actual[i]) && std::isnan(expected[i])) continue;
    ASSERT_EQ(std::memcmp(&actual[i], &expected[i], sizeof(float)), 0)
        << "element " << i << ": " << actual[i] << ", expected " << expected[i];
  }
}

// Holds values on a device, `offset` floats behind the start of a buffer.
class DeviceFloats {
 public:
  DeviceFloats(DeviceKind kind, const Floats& values, std::size_t offset = 0)
      : offset_(offset),
        size_(values.size()),
        buffer_(device(kind), (offset + values.size()) * sizeof(float)) {
    Floats padded(offset);
    padded.insert(padded.end(), values.begin(), values.end());
    buffer_.upload(bytes_of_floats(padded));
  }

  float* data() const { return reinterpret_cast<float*>(buffer_.data()) + offset_; }
  Floats download() const {
    const std::vector<std::byte> bytes = buffer_.download();
    Floats values(size_);
    if (size_ > 0) {
      std::memcpy(values.data(), bytes.data() + offset_ * sizeof(float), size_ * sizeof(float));
    }
    return values;
  }

 private:
  std::size_t offset_, size_;
  DeviceBuffer buffer_;
};

}  // namespace windtunnel

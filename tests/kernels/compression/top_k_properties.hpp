// What must hold of sparse selections on any device; one test file per device calls it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/compression/top_k.hpp"
#include "tests/kernels/compression/compressor_sizes.hpp"
#include "tests/kernels/device_array.hpp"
#include "tests/kernels/float_inputs.hpp"

namespace windtunnel {

using Indices = std::vector<std::uint32_t>;

// Orders floats by magnitude, with NaN above infinity.
inline std::uint32_t rank_of(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return bits & 0x7fffffffU;
}

// Selects by a stable sort; returns ascending indices.
inline Indices plain_top_k(const Floats& x, std::size_t k) {
  Indices order(x.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return rank_of(x[a]) > rank_of(x[b]); });
  order.resize(k);
  std::sort(order.begin(), order.end());
  return order;
}

// Checks that each value is the element at its index; returns the indices in ascending order.
inline Indices checked_indices(DeviceKind kind, const Floats& x, Indices indices,
                               const Floats& values) {
  EXPECT_EQ(indices.size(), values.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    EXPECT_LT(indices[i], x.size());
    if (indices[i] >= x.size()) return {};
    EXPECT_EQ(std::memcmp(&x[indices[i]], &values[i], sizeof(float)), 0) << "index " << indices[i];
  }
  if (kind == DeviceKind::cpu) {
    EXPECT_TRUE(std::is_sorted(indices.begin(), indices.end()));
  }
  std::sort(indices.begin(), indices.end());
  return indices;
}

inline Indices selected(DeviceKind kind, const Floats& x, std::size_t k) {
  const TopK& kernels = top_k(kind);
  const DeviceArray<float> input(kind, x);
  const DeviceArray<std::byte> workspace(
      kind, std::vector<std::byte>(kernels.workspace_bytes(x.size()), std::byte{0x77}));
  const DeviceArray<std::uint32_t> indices(kind, Indices(k, ~0U));
  const DeviceArray<float> values(kind, k);
  kernels.select(input.data(), x.size(), k, workspace.data(), indices.data(), values.data());
  device(kind).synchronize();
  workspace.download();  // checks its guards
  return checked_indices(kind, x, indices.download(), values.download());
}

inline void expect_above(DeviceKind kind, const Floats& x, float threshold, std::size_t capacity) {
  Indices expected;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i]) || std::abs(x[i]) >= threshold) {
      expected.push_back(static_cast<std::uint32_t>(i));
    }
  }
  const DeviceArray<float> input(kind, x);
  const DeviceArray<std::uint32_t> indices(kind, Indices(capacity, ~0U));
  const DeviceArray<float> values(kind, capacity);
  const DeviceArray<std::uint32_t> count(kind, Indices{77});
  top_k(kind).above(input.data(), x.size(), threshold, capacity, indices.data(), values.data(),
                    count.data());
  device(kind).synchronize();
  ASSERT_EQ(count.download()[0], expected.size());
  Indices found = indices.download();
  Floats with = values.download();
  const std::size_t written = std::min(capacity, expected.size());
  for (std::size_t i = written; i < capacity; ++i) ASSERT_EQ(found[i], ~0U);
  found.resize(written);
  with.resize(written);
  found = checked_indices(kind, x, found, with);
  ASSERT_TRUE(std::includes(expected.begin(), expected.end(), found.begin(), found.end()));
  ASSERT_TRUE(std::adjacent_find(found.begin(), found.end()) == found.end());
}

// Makes values that differ in their last bits only, and values with so many ties that the indices
// decide.
inline std::vector<std::pair<std::string, Floats>> close_floats(RandomStream& random,
                                                                std::size_t size) {
  Floats near(size), few(size);
  for (std::size_t i = 0; i < size; ++i) {
    near[i] = 1 + static_cast<float>(random.below(2000)) * 0x1p-23F;
    few[i] = random.below(2) == 0 ? 0.5F : -0.25F * static_cast<float>(random.below(3));
  }
  return {{"near", near}, {"few", few}};
}

inline void expect_selections_of_all_inputs(DeviceKind kind) {
  RandomStream random(41, RandomPurpose::test, 0);
  std::vector<std::size_t> sizes = compressor_sizes(random);
  sizes.push_back(30000);  // one bin overflows the CUDA form's list
  for (const std::size_t size : sizes) {
    auto inputs = kinds_of_floats(random, size);
    for (auto& input : close_floats(random, size)) inputs.push_back(std::move(input));
    for (const auto& [name, x] : inputs) {
      for (const std::size_t k :
           {std::size_t{0}, std::min<std::size_t>(1, size), size / 100, size / 3, size}) {
        SCOPED_TRACE(::testing::Message() << k << " of " << size << " " << name);
        ASSERT_EQ(selected(kind, x, k), plain_top_k(x, k));
      }
      for (const float threshold : {0.0F, 0.3F, 2.0F, 1e30F}) {
        SCOPED_TRACE(::testing::Message() << size << " " << name << " above " << threshold);
        expect_above(kind, x, threshold, size);
        expect_above(kind, x, threshold, size / 50);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

inline void expect_random_scattered(DeviceKind kind, RandomStream& random, std::size_t size,
                                    std::size_t k) {
  const Floats x = random_floats(random, size);
  const DeviceArray<float> input(kind, x);
  const DeviceArray<std::uint32_t> indices(kind, Indices(k, ~0U));
  const DeviceArray<float> values(kind, k);
  const DeviceArray<float> gathered(kind, k);
  const DeviceArray<float> output(kind, size);
  const TopK& kernels = top_k(kind);
  kernels.random(input.data(), size, k, 5, indices.data(), values.data());
  kernels.gather(input.data(), indices.data(), k, gathered.data());
  kernels.scatter(indices.data(), values.data(), k, output.data());
  kernels.scatter_add(indices.data(), gathered.data(), k, output.data());
  device(kind).synchronize();
  const Indices chosen = indices.download();
  ASSERT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
  Floats expected(size);
  for (std::size_t j = 0; j < k; ++j) {
    ASSERT_GE(chosen[j], j * size / k);  // one in each part, so that none is chosen twice
    ASSERT_LT(chosen[j], (j + 1) * size / k);
    expected[chosen[j]] = 2 * x[chosen[j]];
  }
  expect_same(values.download(), gathered.download());
  expect_same(output.download(), expected);
}

inline void expect_random_choices(DeviceKind kind) {
  RandomStream random(42, RandomPurpose::test, 0);
  for (const std::size_t size : compressor_sizes(random)) {
    for (const std::size_t k : {std::size_t{1}, size / 100, size / 3, size}) {
      if (k < 1 || k > size) continue;
      SCOPED_TRACE(::testing::Message() << k << " of " << size);
      expect_random_scattered(kind, random, size, k);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace windtunnel

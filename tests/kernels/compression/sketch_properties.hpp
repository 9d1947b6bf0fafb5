// What must hold of count-sketches on any device; one test file per device calls it.
#pragma once

#include <Random123/philox.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <vector>

#include "kernels/compression/sketch.hpp"
#include "tests/kernels/compression/compressor_sizes.hpp"
#include "tests/kernels/device_array.hpp"
#include "tests/kernels/float_inputs.hpp"

namespace windtunnel {

struct SketchResult {
  Floats counters;
  std::vector<std::uint32_t> bitmap;
  Floats estimates;
};

inline SketchResult sketched(DeviceKind kind, const Floats& x, std::uint64_t seed,
                             std::size_t columns) {
  const DeviceArray<float> input(kind, x);
  const DeviceArray<float> counters(kind, Floats(3 * columns, 99.0F));
  const DeviceArray<std::uint32_t> bitmap(
      kind, std::vector<std::uint32_t>(bitmap_words(x.size()), 0xdeadbeefU));
  const DeviceArray<float> output(kind, Floats(x.size(), 99.0F));
  sketch(kind).encode(input.data(), x.size(), seed, columns, counters.data(), bitmap.data());
  sketch(kind).estimate(counters.data(), columns, seed, bitmap.data(), x.size(), output.data());
  device(kind).synchronize();
  return {counters.download(), bitmap.download(), output.download()};
}

struct PlainPlace {
  std::size_t counter;
  float sign;
};

inline std::array<PlainPlace, 3> plain_places(std::size_t i, std::uint64_t seed,
                                              std::size_t columns) {
  const auto random = r123::Philox4x32()(
      {{static_cast<std::uint32_t>(i), 0, 0, 0}},
      {{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}});
  std::array<PlainPlace, 3> places = {};
  for (std::size_t row = 0; row < 3; ++row) {
    places[row] = {row * columns + ((random[row] * static_cast<std::uint64_t>(columns)) >> 32),
                   (random[3] >> row & 1U) != 0 ? -1.0F : 1.0F};
  }
  return places;
}

// Counters must lie within the rounding error of their terms, and estimates must be the medians of
// the device's counters.
inline void expect_sketch(DeviceKind kind, const Floats& x, std::uint64_t seed,
                          std::size_t columns) {
  const SketchResult result = sketched(kind, x, seed, columns);
  std::vector<std::uint32_t> bitmap(bitmap_words(x.size()));
  std::vector<double> sum(3 * columns), magnitude(3 * columns), terms(3 * columns);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] == 0) {
      ASSERT_EQ(result.estimates[i], 0);
      continue;
    }
    bitmap[i / 32] |= 1U << (i % 32);
    std::array<float, 3> counts = {};
    bool ordered = true;
    for (std::size_t row = 0; row < 3; ++row) {
      const PlainPlace place = plain_places(i, seed, columns)[row];
      sum[place.counter] += place.sign * x[i];
      magnitude[place.counter] += std::abs(x[i]);
      terms[place.counter] += 1;
      counts[row] = place.sign * result.counters[place.counter];
      ordered = ordered && !std::isnan(counts[row]);
    }
    if (!std::isfinite(x[i])) {
      ASSERT_FALSE(std::isfinite(result.estimates[i]));
    }
    if (!ordered) continue;
    std::sort(counts.begin(), counts.end());
    ASSERT_EQ(result.estimates[i], counts[1]);
  }
  ASSERT_EQ(result.bitmap, bitmap);
  for (std::size_t c = 0; c < sum.size(); ++c) {
    if (!std::isfinite(magnitude[c])) {
      ASSERT_FALSE(std::isfinite(result.counters[c]));
    } else {
      const double rounding = std::max(terms[c] - 1, 0.0) * 0x1p-24 * magnitude[c];
      // Atomic sums in a GPU's memory flush denormal numbers to zero.
      const double lost = kind == DeviceKind::cuda ? terms[c] * FLT_MIN : 0;
      ASSERT_NEAR(result.counters[c], sum[c], rounding + lost) << "counter " << c;
    }
  }
}

inline void expect_sketches_of_all_inputs(DeviceKind kind) {
  RandomStream random(51, RandomPurpose::test, 0);
  for (const std::size_t size : compressor_sizes(random)) {
    for (const auto& [name, x] : kinds_of_floats(random, size)) {
      for (const std::size_t columns : {std::size_t{1}, size / 20 + 1, 3 * size + 1}) {
        SCOPED_TRACE(::testing::Message() << size << " " << name << " in " << columns);
        expect_sketch(kind, x, 1234567890123ULL + size, columns);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace windtunnel

#include "kernels/compression/top_k.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "kernels/compression/top_k_words.cuh"
#include "kernels/device/alignment.hpp"
#include "kernels/device/cuda_entries.hpp"

namespace windtunnel {
namespace {

constexpr int kFirstShift = 31 - kDigitBits;  // of a magnitude's bits

void check_elements(std::size_t elements) {
  CHECK(elements < (std::size_t{1} << 32), "indices of {} elements", elements);
}

// The k-th largest key.
std::uint64_t boundary_key(const float* x, std::size_t elements, std::size_t k) {
  std::array<std::size_t, kDigitBins> counts = {};
  for (std::size_t i = 0; i < elements; ++i) ++counts[magnitude_bits(x[i]) >> kFirstShift];
  std::size_t bin = kDigitBins - 1;
  std::size_t rank = k;  // within the bin, from 1
  while (counts[bin] < rank) rank -= counts[bin--];
  std::vector<std::uint64_t> keys;
  keys.reserve(counts[bin]);
  for (std::size_t i = 0; i < elements; ++i) {
    if (magnitude_bits(x[i]) >> kFirstShift == bin) {
      keys.push_back(selection_key(x[i], static_cast<std::uint32_t>(i)));
    }
  }
  const auto kth = keys.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(keys.begin(), kth, keys.end(), std::greater<>());
  return *kth;
}

void select(const float* x, std::size_t elements, std::size_t k, std::byte* workspace,
            std::uint32_t* indices, float* values) {
  check_alignment(x, workspace);
  check_elements(elements);
  CHECK(k <= elements, "{} of {} elements", k, elements);
  if (k == 0) return;
  const std::uint64_t boundary = boundary_key(x, elements, k);
  for (std::size_t i = 0; i < elements; ++i) {
    const auto index = static_cast<std::uint32_t>(i);
    if (selection_key(x[i], index) < boundary) continue;
    *indices++ = index;
    *values++ = x[i];
  }
}

void above(const float* x, std::size_t elements, float threshold, std::size_t capacity,
           std::uint32_t* indices, float* values, std::uint32_t* count) {
  check_alignment(x);
  check_elements(elements);
  CHECK(threshold >= 0, "a threshold of {}", threshold);
  const std::uint32_t bound = magnitude_bits(threshold);
  std::size_t found = 0;
  for (std::size_t i = 0; i < elements; ++i) {
    if (magnitude_bits(x[i]) < bound) continue;
    if (found < capacity) {
      indices[found] = static_cast<std::uint32_t>(i);
      values[found] = x[i];
    }
    ++found;
  }
  *count = static_cast<std::uint32_t>(found);
}

void random(const float* x, std::size_t elements, std::size_t k, std::uint64_t seed,
            std::uint32_t* indices, float* values) {
  check_elements(elements);
  CHECK(k >= 1 && k <= elements, "{} of {} elements", k, elements);
  for (std::size_t j = 0; j < k; ++j) {
    indices[j] = random_index(j, elements, k, seed);
    values[j] = x[indices[j]];
  }
}

void gather(const float* x, const std::uint32_t* indices, std::size_t k, float* values) {
  for (std::size_t j = 0; j < k; ++j) values[j] = x[indices[j]];
}

void scatter(const std::uint32_t* indices, const float* values, std::size_t k, float* x) {
  for (std::size_t j = 0; j < k; ++j) x[indices[j]] = values[j];
}

void scatter_add(const std::uint32_t* indices, const float* values, std::size_t k, float* x) {
  for (std::size_t j = 0; j < k; ++j) x[indices[j]] += values[j];
}

constexpr TopK kCpu = {[](std::size_t) { return std::size_t{0}; },
                       select,
                       above,
                       random,
                       gather,
                       scatter,
                       scatter_add};

}  // namespace

const TopK& top_k(DeviceKind kind) {
  return kind == DeviceKind::cuda ? cuda_top_k() : kCpu;
}

}  // namespace windtunnel

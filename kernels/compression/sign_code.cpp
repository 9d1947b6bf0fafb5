#include "kernels/compression/sign_code.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/compression/vote_words.cuh"
#include "kernels/device/alignment.hpp"
#include "kernels/device/cuda_entries.hpp"

namespace windtunnel {
namespace {

constexpr std::size_t kBits = 32;
constexpr std::size_t kSums = 8;  // independent sums, which are added as vectors

std::uint32_t signs_of(const float* x, std::size_t count) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < count; ++i) word |= (x[i] >= 0 ? 1u : 0u) << i;
  return word;
}

void clear_rest(std::uint32_t* words, std::size_t elements) {
  std::fill(words + (elements + kBits - 1) / kBits, words + sign_words(elements), 0u);
}

void pack(const float* x, std::size_t elements, std::uint32_t* words) {
  check_alignment(x, words);
  const std::size_t whole = elements / kBits;
  for (std::size_t w = 0; w < whole; ++w) words[w] = signs_of(x + w * kBits, kBits);
  if (elements % kBits > 0) words[whole] = signs_of(x + whole * kBits, elements % kBits);
  clear_rest(words, elements);
}

float scale_of(const double* magnitude, std::size_t elements) {
  return static_cast<float>(*magnitude / static_cast<double>(elements));
}

void unpack(const std::uint32_t* words, std::size_t elements, const double* magnitude, float* x) {
  check_alignment(words, x);
  const float scale = scale_of(magnitude, elements);
  const float signed_scale[2] = {-scale, scale};
  for (std::size_t i = 0; i < elements; ++i) {
    x[i] = signed_scale[(words[i / kBits] >> (i % kBits)) & 1u];
  }
}

void magnitude(const float* x, const float* y, std::size_t elements, double* sum) {
  check_alignment(x, y);
  double sums[kSums] = {};
  const std::size_t whole = elements / kSums * kSums;
  for (std::size_t i = 0; i < whole; i += kSums) {
    for (std::size_t j = 0; j < kSums; ++j) {
      sums[j] += static_cast<double>(std::abs(x[i + j] + y[i + j]));
    }
  }
  for (std::size_t i = whole; i < elements; ++i) {
    sums[0] += static_cast<double>(std::abs(x[i] + y[i]));
  }
  double all = 0;
  for (const double part : sums) all += part;
  *sum = all;
}

void error(const float* gradient, std::size_t elements, const double* lagged, float* error,
           std::uint32_t* words, double* next) {
  check_alignment(gradient, error, words);
  const float scale = scale_of(lagged, elements);
  magnitude(gradient, error, elements, next);
  for (std::size_t i = 0; i < elements; ++i) error[i] += gradient[i];
  pack(error, elements, words);
  for (std::size_t i = 0; i < elements; ++i) error[i] -= error[i] >= 0 ? scale : -scale;
}

template <int kPlanes>
void vote_planes(const std::uint32_t* words, std::size_t parts, std::size_t size,
                 std::uint32_t* majority) {
  for (std::size_t w = 0; w < size; ++w) {
    VoteCounts<kPlanes> counts = {};
    for (std::size_t part = 0; part < parts; part += 4) {
      std::uint32_t four[4] = {};
      for (std::size_t i = 0; i < std::min<std::size_t>(4, parts - part); ++i) {
        four[i] = words[(part + i) * size + w];
      }
      add_votes(counts, four[0], four[1], four[2], four[3]);
    }
    majority[w] = at_least(counts, static_cast<std::uint32_t>((parts + 1) / 2));
  }
}

void vote(const std::uint32_t* words, int parts, std::size_t elements, std::uint32_t* majority) {
  CHECK(parts >= 1 && parts <= kMaxVotes, "a vote of {}", parts);
  check_alignment(words, majority);
  const auto count = static_cast<std::size_t>(parts);
  if (parts < 16) return vote_planes<4>(words, count, sign_words(elements), majority);
  vote_planes<16>(words, count, sign_words(elements), majority);
}

constexpr SignCode kCpu = {pack, unpack, magnitude, error, vote};

}  // namespace

const SignCode& sign_code(DeviceKind kind) {
  return kind == DeviceKind::cuda ? cuda_sign_code() : kCpu;
}

}  // namespace windtunnel

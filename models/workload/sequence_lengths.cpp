#include "models/workload/sequence_lengths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/base/error.hpp"
#include "models/base/random.hpp"

namespace windtunnel {
namespace {

constexpr double kLongest = 1e9;  // tokens; fits an int

// Conditions are written so that NaN fails them.
void check(const LengthDistribution& distribution) {
  if (distribution.buckets.empty()) {
    const bool ordered = distribution.median >= 1 && distribution.median <= distribution.longest;
    if (ordered && distribution.longest <= kLongest && distribution.sigma >= 0) return;
    throw Error(
        fmt::format("median {}, longest {} and sigma {} are not valid; needed: 1 <= median <= "
                    "longest <= {:g} and sigma >= 0",
                    distribution.median, distribution.longest, distribution.sigma, kLongest));
  }
  double sum = 0;
  for (const LengthBucket& bucket : distribution.buckets) {
    const bool ordered = bucket.shortest >= 1 && bucket.shortest <= bucket.longest;
    if (!ordered || !(bucket.longest <= kLongest) || !(bucket.share >= 0)) {
      throw Error(
          fmt::format("a bucket from {} to {} with share {} is not valid; needed: 1 <= shortest <= "
                      "longest <= {:g} and share >= 0",
                      bucket.shortest, bucket.longest, bucket.share, kLongest));
    }
    sum += bucket.share;
  }
  if (std::abs(sum - 1) > 1e-6) {
    throw Error(fmt::format("the buckets' shares add up to {}, not 1", sum));
  }
}

double draw(const LengthDistribution& distribution, RandomStream& random) {
  if (distribution.buckets.empty()) {
    const double length = distribution.median * std::exp(distribution.sigma * random.normal());
    return std::min(length, distribution.longest);
  }
  double left = random.uniform();
  const LengthBucket* chosen = nullptr;
  for (const LengthBucket& bucket : distribution.buckets) {
    if (bucket.share == 0) continue;
    chosen = &bucket;
    if (left < bucket.share) break;
    left -= bucket.share;
  }
  return chosen->shortest * std::pow(chosen->longest / chosen->shortest, random.uniform());
}

}  // namespace

std::vector<int> draw_lengths(const LengthDistribution& distribution, int count,
                              std::uint64_t seed) {
  check(distribution);
  std::vector<int> lengths(count);
  for (int i = 0; i < count; ++i) {
    RandomStream random(seed, RandomPurpose::sequence_length, i);
    lengths[i] = std::max(1, static_cast<int>(std::lround(draw(distribution, random))));
  }
  return lengths;
}

}  // namespace windtunnel

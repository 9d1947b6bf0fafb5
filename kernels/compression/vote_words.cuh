// Counts set bits in 32 columns at once with bit-sliced counters. Full adders add four words at a
// time (carry-save, as in Harley and Seal's population count), in about 6 instructions per word.
#pragma once

#include <cstdint>

#include "kernels/device/host_device.cuh"

namespace windtunnel {

// Counts up to 2^kPlanes - 1.
template <int kPlanes>
struct VoteCounts {
  std::uint32_t plane[kPlanes];  // bit i of each: a binary digit of column i's count
};

WINDTUNNEL_BOTH inline std::uint32_t majority_of(std::uint32_t a, std::uint32_t b,
                                                 std::uint32_t c) {
  return (a & b) | (a & c) | (b & c);
}

template <int kPlanes>
WINDTUNNEL_BOTH void add_votes(VoteCounts<kPlanes>& counts, std::uint32_t a, std::uint32_t b,
                               std::uint32_t c, std::uint32_t d) {
  std::uint32_t* const plane = counts.plane;
  const std::uint32_t first = majority_of(plane[0], a, b);
  plane[0] ^= a ^ b;
  const std::uint32_t second = majority_of(plane[0], c, d);
  plane[0] ^= c ^ d;
  std::uint32_t carry = majority_of(plane[1], first, second);
  plane[1] ^= first ^ second;
  for (int i = 2; i < kPlanes; ++i) {
    const std::uint32_t next = plane[i] & carry;
    plane[i] ^= carry;
    carry = next;
  }
}

// Bit i is the carry out of count_i - bound, computed digit by digit.
template <int kPlanes>
WINDTUNNEL_BOTH std::uint32_t at_least(const VoteCounts<kPlanes>& counts, std::uint32_t bound) {
  std::uint32_t carry = 0xffffffffu;
  for (int i = 0; i < kPlanes; ++i) {
    const bool digit = ((bound >> i) & 1u) != 0;
    carry = digit ? counts.plane[i] & carry : counts.plane[i] | carry;
  }
  return carry;
}

}  // namespace windtunnel

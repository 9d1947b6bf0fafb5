// Codes of four elements that each lane of a warp has, and the words that they fill. With rows of
// 4 elements a lane, a word's codes come from 8 lanes (one bit each) or 4 lanes (two bits each);
// with 8 or 4 rows, each lane has a word of codes as soon as neighbours have transposed the matrix
// of their codes, in three or two exchanges.
#pragma once

#include <cstdint>

#include "kernels/device/host_device.cuh"

namespace windtunnel {

// One exchange of a transposition: the half of each pair of columns, `shift` bits wide, that
// belongs to the partner's row. `upper`: this is the second row of the two.
WINDTUNNEL_BOTH inline std::uint32_t exchanged(std::uint32_t own, std::uint32_t other, bool upper,
                                               unsigned shift) {
  const std::uint32_t low = shift == 16 ? 0x0000ffffu : (shift == 8 ? 0x00ff00ffu : 0x0f0f0f0fu);
  return upper ? (own & ~low) | ((other >> shift) & low) : (own & low) | ((other & low) << shift);
}

}  // namespace windtunnel

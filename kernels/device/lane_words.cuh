// Packs the codes of four elements per lane of a warp into words. If each lane has 4 elements of a
// row, a word's codes come from 8 lanes (one bit each) or 4 lanes (two bits each). With 8 or 4
// rows, neighbouring lanes transpose the matrix of their codes in three or two exchanges, and each
// lane then has one whole word.
#pragma once

#include <cstdint>

#include "kernels/device/host_device.cuh"

namespace windtunnel {

// One exchange of a transposition between two lanes: a lane replaces every other group of `shift`
// bits in its row by one of the partner's row. `upper`: the lane has the second row of the two.
WINDTUNNEL_BOTH inline std::uint32_t exchanged(std::uint32_t own, std::uint32_t other, bool upper,
                                               unsigned shift) {
  const std::uint32_t low = shift == 16 ? 0x0000ffffu : (shift == 8 ? 0x00ff00ffu : 0x0f0f0f0fu);
  return upper ? (own & ~low) | ((other >> shift) & low) : (own & low) | ((other & low) << shift);
}

}  // namespace windtunnel

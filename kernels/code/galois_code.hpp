// Sums of blocks over GF(2^8): target_i = sum over j of coefficient(i, j) * source_j. Encoding,
// rebuilding and updating of Reed-Solomon codes are all such sums; the coefficients come from
// models/reliability/galois.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/device/device.hpp"

namespace windtunnel {

struct GaloisCode {
  // rows >= 1 targets of `count` >= 1 sources, `coefficients` row by row. `add`: to what the
  // targets hold (an update: the source is the difference of a block). Blocks lie in the device's
  // memory at any alignment, targets overlap nothing else. The arrays themselves and
  // `coefficients` are host memory, free for reuse on return; the kernel may still run until
  // Device::synchronize.
  void (*combine)(const std::uint8_t* coefficients, int rows, const std::byte* const* sources,
                  int count, std::byte* const* targets, std::size_t size_bytes, bool add);
};

const GaloisCode& galois_code(DeviceKind kind);

}  // namespace windtunnel

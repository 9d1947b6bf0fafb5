// Sums of blocks over GF(2^8): target_i = sum over j of coefficient(i, j) * source_j. Encoding,
// rebuilding and updating a Reed-Solomon code are all such sums; the coefficients come from
// models/reliability/galois.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/device/device.hpp"

namespace windtunnel {

struct GaloisCode {
  // Computes `rows` >= 1 targets from `count` >= 1 sources; `coefficients` is row-major. `add` adds
  // to the present content of the targets (an update, whose source is the difference of a block).
  // Blocks are in the device's memory at any alignment; targets overlap nothing else. The arrays of
  // pointers and `coefficients` are in host memory and may be reused on return; the kernel may run
  // until Device::synchronize.
  void (*combine)(const std::uint8_t* coefficients, int rows, const std::byte* const* sources,
                  int count, std::byte* const* targets, std::size_t size_bytes, bool add);
};

const GaloisCode& galois_code(DeviceKind kind);

}  // namespace windtunnel

// The k+1 XOR code: parity = block_0 ^ ... ^ block_{k-1}. Any one of the k+1 blocks is the XOR of
// the other k, so encoding and rebuilding are the same operation. RAID-5 and the in-memory
// snapshots of REFT (Wang et al., "Reliable and Efficient In-Memory Fault Tolerance of Large
// Language Model Pretraining", 2023) store this code across a group of nodes.
#pragma once

#include <cstddef>

#include "kernels/device/device.hpp"

namespace windtunnel {

struct XorCode {
  // target[i] = XOR over j of sources[j][i], for i < size_bytes and count >= 1. All blocks are in
  // the device's memory at any alignment; the target overlaps no source. The array `sources` is in
  // host memory and may be reused on return; the kernel may run until Device::synchronize.
  void (*combine)(const std::byte* const* sources, int count, std::byte* target,
                  std::size_t size_bytes);
};

const XorCode& xor_code(DeviceKind kind);

}  // namespace windtunnel

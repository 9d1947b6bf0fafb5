// Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC'11) makes four
// random 32-bit words from a counter and a key, the same on every device, in about 10 instructions
// per word.
#pragma once

#include <cstdint>

#include "kernels/device/host_device.cuh"

namespace windtunnel {

struct RandomWords {
  std::uint32_t word[4];
};

// Forces one instruction: otherwise nvcc keeps 64-bit words through all rounds, a fifth more work.
WINDTUNNEL_BOTH inline std::uint64_t wide_product(std::uint32_t a, std::uint32_t b) {
#ifdef __CUDA_ARCH__
  std::uint64_t product;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
  return product;
#else
  return std::uint64_t{a} * b;
#endif
}

WINDTUNNEL_BOTH inline RandomWords philox(std::uint64_t seed, std::uint64_t counter) {
  auto key0 = static_cast<std::uint32_t>(seed);
  auto key1 = static_cast<std::uint32_t>(seed >> 32);
  RandomWords x = {
      {static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0, 0}};
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = wide_product(0xD2511F53u, x.word[0]);
    const std::uint64_t b = wide_product(0xCD9E8D57u, x.word[2]);
    x = {{static_cast<std::uint32_t>(b >> 32) ^ x.word[1] ^ key0, static_cast<std::uint32_t>(b),
          static_cast<std::uint32_t>(a >> 32) ^ x.word[3] ^ key1, static_cast<std::uint32_t>(a)}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return x;
}

// Returns a number below `bound`. Its probability is 1 / bound, up to a deviation of 2^-32.
WINDTUNNEL_BOTH inline std::uint32_t below(std::uint32_t word, std::uint32_t bound) {
  return static_cast<std::uint32_t>((std::uint64_t{word} * bound) >> 32);
}

}  // namespace windtunnel

// Four bytes at once times a constant of GF(2^8), by table look-ups inside registers: a byte is cut
// into 3 + 3 + 2 bits, the multiples of each part fill 8 + 8 + 4 bytes, and PRMT (__byte_perm)
// takes four entries of eight bytes in one instruction. Multiplication is linear, so the three
// looked-up words are added. Some 5 instructions a word and target, and 12 a word for the
// selectors, which all targets share. Compiles for the host too, where tests hold it to the field's
// definition.
#pragma once

#include <cstdint>

#include "kernels/host_device.cuh"

namespace windtunnel {

struct GaloisTable {
  std::uint32_t low[2];     // multiples of 0..7, a byte each
  std::uint32_t middle[2];  // of 0..7 << 3
  std::uint32_t high;       // of 0..3 << 6
};

struct GaloisSelectors {
  std::uint32_t low, middle, high;  // a nibble each byte
};

// PRMT: byte i of the result is byte (selector >> 4i & 7) of b:a.
WINDTUNNEL_BOTH inline std::uint32_t select_bytes(std::uint32_t a, std::uint32_t b,
                                                  std::uint32_t selector) {
#ifdef __CUDA_ARCH__
  return __byte_perm(a, b, selector);
#else
  const std::uint64_t bytes = (static_cast<std::uint64_t>(b) << 32) | a;
  std::uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t index = (selector >> (4 * i)) & 7;
    result |= static_cast<std::uint32_t>((bytes >> (8 * index)) & 0xff) << (8 * i);
  }
  return result;
#endif
}

// Values below 8 in each byte to nibbles; only the low 16 bits of the result count.
WINDTUNNEL_BOTH inline std::uint32_t packed_nibbles(std::uint32_t bytes) {
  return select_bytes(bytes | (bytes >> 4), 0, 0x20);
}

WINDTUNNEL_BOTH inline GaloisSelectors galois_selectors(std::uint32_t word) {
  return {packed_nibbles(word & 0x07070707u), packed_nibbles((word >> 3) & 0x07070707u),
          packed_nibbles((word >> 6) & 0x03030303u)};
}

WINDTUNNEL_BOTH inline std::uint32_t galois_product(const GaloisTable& table,
                                                    const GaloisSelectors& selectors) {
  return select_bytes(table.low[0], table.low[1], selectors.low) ^
         select_bytes(table.middle[0], table.middle[1], selectors.middle) ^
         select_bytes(table.high, 0, selectors.high);
}

// 0x11d, bit by bit: for tables alone.
WINDTUNNEL_BOTH inline std::uint32_t slow_galois_product(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (int bit = 0; bit < 8; ++bit) {
    if (((b >> bit) & 1u) != 0) product ^= a;
    a = (a << 1) ^ ((a & 0x80u) != 0 ? 0x11du : 0u);
  }
  return product;
}

WINDTUNNEL_BOTH inline GaloisTable galois_table(std::uint32_t coefficient) {
  GaloisTable table = {{0, 0}, {0, 0}, 0};
  for (std::uint32_t i = 0; i < 8; ++i) {
    table.low[i / 4] |= slow_galois_product(coefficient, i) << (8 * (i % 4));
    table.middle[i / 4] |= slow_galois_product(coefficient, i << 3) << (8 * (i % 4));
    if (i < 4) table.high |= slow_galois_product(coefficient, i << 6) << (8 * i);
  }
  return table;
}

}  // namespace windtunnel

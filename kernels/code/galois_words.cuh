// Multiplies four bytes at once by a constant of GF(2^8), with table look-ups in registers. A byte
// is split into bits 0-2, bits 4-6, and bits 3 and 7. The multiples of each part fill 8 + 8 + 4
// bytes, and PRMT (__byte_perm) selects four of eight bytes in one instruction. Multiplication is
// linear, so the three words found are added. Splitting a word into selectors is fastest in an
// order other than that of its bytes, and sums keep this order until they are stored. Per word, the
// selectors, which all targets share, cost 9 logical instructions and shifts and 2 multiplications,
// and each target 4.5 further instructions. This also compiles for the host, where tests compare it
// with the field's definition.
#pragma once

#include "kernels/device/byte_words.cuh"

namespace windtunnel {

struct GaloisTable {
  std::uint32_t low[2];     // multiples of 0..7, one byte each
  std::uint32_t middle[2];  // multiples of 0..7 << 4
  std::uint32_t high;       // multiples of 0, 0x08, 0x80, 0x88
};

// Each has a nibble for each byte of the word in its low 16 bits, in the order of bytes 2, 0, 3, 1.
struct GaloisSelectors {
  std::uint32_t low, middle, high;
};

// Takes bits of a where the mask is one, and of b elsewhere. Forces one instruction: a compiler
// that knows which bits matter would use two smaller masks.
WINDTUNNEL_BOTH inline std::uint32_t merged_bits(std::uint32_t a, std::uint32_t b,
                                                 std::uint32_t mask) {
#ifdef __CUDA_ARCH__
  std::uint32_t result;
  asm("lop3.b32 %0, %1, %2, %3, 0xe4;" : "=r"(result) : "r"(a), "r"(b), "r"(mask));
  return result;
#else
  return (a & mask) | (b & ~mask);
#endif
}

WINDTUNNEL_BOTH inline GaloisSelectors galois_selectors(std::uint32_t word) {
  constexpr std::uint32_t kNibbles = 0x0f0f0f0fu;
  // Low and high halves of the bytes. Multiplies instead of shifting, because multipliers are idle.
  const std::uint32_t first = merged_bits(word >> 16, word * 16, kNibbles);
  const std::uint32_t second = merged_bits(word >> 20, word, kNibbles);
  return {first & 0x7777u, second & 0x7777u, ((first & 0x8888u) + 2 * (second & 0x8888u)) >> 3};
}

// Adds the product of the word's bytes, in the order of the selectors.
WINDTUNNEL_BOTH inline void add_galois_product(const GaloisTable& table,
                                               const GaloisSelectors& selectors,
                                               std::uint32_t& sum) {
  sum ^= select_bytes(table.low[0], table.low[1], selectors.low);
  sum ^= select_bytes(table.middle[0], table.middle[1], selectors.middle);
  sum ^= select_bytes(table.high, 0, selectors.high);
}

// Converts between the order of selectors and that of memory (the swap is its own inverse).
WINDTUNNEL_BOTH inline std::uint32_t bytes_in_order(std::uint32_t word) {
  return select_bytes(word, 0, 0x2031);
}
WINDTUNNEL_BOTH inline std::uint32_t bytes_as_selected(std::uint32_t word) {
  return select_bytes(word, 0, 0x1302);
}

// The sums of all subsets of three bytes: of none in byte 0, of all in byte 7.
WINDTUNNEL_BOTH inline void fill_galois_sums(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                             std::uint32_t (&sums)[2]) {
  sums[0] = (a * 0x01000100u) ^ (b * 0x01010000u);
  sums[1] = sums[0] ^ (c * 0x01010101u);
}

WINDTUNNEL_BOTH inline GaloisTable galois_table(std::uint32_t coefficient) {
  std::uint32_t multiple[8] = {coefficient};  // coefficient times each bit of a byte, modulo 0x11d
  for (int bit = 1; bit < 8; ++bit) {
    const std::uint32_t doubled = multiple[bit - 1] * 2;
    multiple[bit] = doubled ^ (doubled >> 8) * 0x11du;
  }
  GaloisTable table = {};
  fill_galois_sums(multiple[0], multiple[1], multiple[2], table.low);
  fill_galois_sums(multiple[4], multiple[5], multiple[6], table.middle);
  std::uint32_t high[2];
  fill_galois_sums(multiple[3], multiple[7], 0, high);
  table.high = high[0];
  return table;
}

}  // namespace windtunnel

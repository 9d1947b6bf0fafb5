// Erasure codes compute in GF(2^8) with x^8 + x^4 + x^3 + x^2 + 1 (0x11d), as in ISA-L, Linux
// RAID-6 and jerasure. A systematic Reed-Solomon code has k data blocks and m parity blocks; any k
// of the k + m restore all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace windtunnel {

std::uint8_t gf_multiply(std::uint8_t a, std::uint8_t b);
std::uint8_t gf_inverse(std::uint8_t a);  // a != 0

struct GaloisMatrix {
  int rows = 0;
  int columns = 0;
  std::vector<std::uint8_t> values;  // row by row

  std::uint8_t at(int row, int column) const { return values[index(row, column)]; }
  std::uint8_t& at(int row, int column) { return values[index(row, column)]; }

  std::size_t index(int row, int column) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
           static_cast<std::size_t>(column);
  }
};

GaloisMatrix zero_matrix(int rows, int columns);

// The m x k coefficients of the parity blocks: 1 / (i + j), i = k..k+m-1, j < k, a Cauchy matrix,
// whose square submatrices are all invertible (ISA-L's gf_gen_cauchy1_matrix). Throws Error if k +
// m > 256.
GaloisMatrix cauchy_parity(int k, int m);

// How lost blocks are restored: block lost[i] = sum over j of coefficients(i, j) * block
// sources[j].
struct Rebuild {
  std::vector<int> sources;  // k surviving blocks
  GaloisMatrix coefficients;
};

// Blocks 0..k-1 are data, k..k+m-1 parity by `parity`. Throws Error when more than m are lost, or
// for a block that does not exist.
Rebuild rebuild_of(const GaloisMatrix& parity, const std::vector<int>& lost);

}  // namespace windtunnel

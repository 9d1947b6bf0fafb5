#include "models/reliability/galois.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

constexpr int kPolynomial = 0x11d;
constexpr std::size_t kOrder = 255;  // of the multiplicative group, which 2 generates

struct Logarithms {
  std::array<std::uint8_t, 256> log = {};
  std::array<std::uint8_t, 2 * kOrder> power = {};
};

constexpr Logarithms make_logarithms() {
  Logarithms tables;
  int value = 1;
  for (std::size_t i = 0; i < kOrder; ++i) {
    tables.power[i] = static_cast<std::uint8_t>(value);
    tables.power[i + kOrder] = static_cast<std::uint8_t>(value);
    tables.log[static_cast<size_t>(value)] = static_cast<std::uint8_t>(i);
    value <<= 1;
    if (value > 0xff) value ^= kPolynomial;
  }
  return tables;
}

constexpr Logarithms kLogarithms = make_logarithms();

// row += factor * other
void add_row(GaloisMatrix& matrix, int row, int other, std::uint8_t factor) {
  for (int column = 0; column < matrix.columns; ++column) {
    matrix.at(row, column) ^= gf_multiply(factor, matrix.at(other, column));
  }
}

// Gauss-Jordan elimination turns [square | identity] into [identity | inverse].
GaloisMatrix inverse(const GaloisMatrix& square) {
  const int n = square.rows;
  GaloisMatrix wide = zero_matrix(n, 2 * n);
  for (int row = 0; row < n; ++row) {
    for (int column = 0; column < n; ++column) wide.at(row, column) = square.at(row, column);
    wide.at(row, n + row) = 1;
  }
  for (int i = 0; i < n; ++i) {
    int pivot = i;
    while (pivot < n && wide.at(pivot, i) == 0) ++pivot;
    CHECK(pivot < n, "no inverse: column {} of {}", i, n);
    for (int column = 0; column < 2 * n; ++column) {
      std::swap(wide.at(i, column), wide.at(pivot, column));
    }
    const std::uint8_t scale = gf_inverse(wide.at(i, i));
    for (int column = 0; column < 2 * n; ++column) {
      wide.at(i, column) = gf_multiply(scale, wide.at(i, column));
    }
    for (int row = 0; row < n; ++row) {
      if (row != i && wide.at(row, i) != 0) add_row(wide, row, i, wide.at(row, i));
    }
  }
  GaloisMatrix result = zero_matrix(n, n);
  for (int row = 0; row < n; ++row) {
    for (int column = 0; column < n; ++column) result.at(row, column) = wide.at(row, n + column);
  }
  return result;
}

// Coefficient of data block `column` in the sum that makes block `block`.
std::uint8_t generator(const GaloisMatrix& parity, int block, int column) {
  if (block < parity.columns) return block == column ? 1 : 0;
  return parity.at(block - parity.columns, column);
}

}  // namespace

std::uint8_t gf_multiply(std::uint8_t a, std::uint8_t b) {
  if (a == 0 || b == 0) return 0;
  return kLogarithms.power[static_cast<size_t>(kLogarithms.log[a]) + kLogarithms.log[b]];
}

std::uint8_t gf_inverse(std::uint8_t a) {
  CHECK(a != 0, "0 has no inverse");
  return kLogarithms.power[kOrder - kLogarithms.log[a]];
}

GaloisMatrix zero_matrix(int rows, int columns) {
  return {rows, columns,
          std::vector<std::uint8_t>(static_cast<size_t>(rows) * static_cast<size_t>(columns))};
}

GaloisMatrix cauchy_parity(int k, int m) {
  if (k < 1 || m < 0 || k + m > 256) {
    throw Error(
        fmt::format("a code of {} + {} blocks is not possible: over GF(2^8) a code has 1 to 256 "
                    "blocks in all, at least one of them data",
                    k, m));
  }
  GaloisMatrix parity = zero_matrix(m, k);
  for (int row = 0; row < m; ++row) {
    for (int column = 0; column < k; ++column) {
      parity.at(row, column) = gf_inverse(static_cast<std::uint8_t>((k + row) ^ column));
    }
  }
  return parity;
}

Rebuild rebuild_of(const GaloisMatrix& parity, const std::vector<int>& lost) {
  const int k = parity.columns;
  const int blocks = k + parity.rows;
  std::vector<int> left;
  for (int block = 0; block < blocks; ++block) {
    if (std::ranges::find(lost, block) == lost.end()) left.push_back(block);
  }
  if (static_cast<int>(lost.size() + left.size()) != blocks) {
    throw Error(fmt::format("lost blocks must be different numbers from 0 to {}", blocks - 1));
  }
  if (static_cast<int>(left.size()) < k) {
    throw Error(fmt::format("{} blocks are lost, but the code tolerates the loss of {}",
                            lost.size(), parity.rows));
  }
  left.resize(static_cast<size_t>(k));
  GaloisMatrix known = zero_matrix(k, k);
  for (int row = 0; row < k; ++row) {
    for (int column = 0; column < k; ++column) {
      known.at(row, column) = generator(parity, left[static_cast<size_t>(row)], column);
    }
  }
  const GaloisMatrix data = inverse(known);
  Rebuild rebuild{std::move(left), zero_matrix(static_cast<int>(lost.size()), k)};
  for (int row = 0; row < rebuild.coefficients.rows; ++row) {
    for (int column = 0; column < k; ++column) {
      std::uint8_t sum = 0;
      for (int i = 0; i < k; ++i) {
        sum ^=
            gf_multiply(generator(parity, lost[static_cast<size_t>(row)], i), data.at(i, column));
      }
      rebuild.coefficients.at(row, column) = sum;
    }
  }
  return rebuild;
}

}  // namespace windtunnel

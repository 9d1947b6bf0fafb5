// What must hold of sums over GF(2^8) on any device; one test file per device calls it.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <numeric>
#include <vector>

#include "kernels/code/galois_code.hpp"
#include "models/base/random.hpp"
#include "models/reliability/galois.hpp"

namespace windtunnel {

using Bytes = std::vector<std::byte>;

inline Bytes random_block(RandomStream& random, std::size_t size_bytes) {
  Bytes bytes(size_bytes);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(256));
  return bytes;
}

// Computes sums on the device, with blocks that start `offset` bytes into their buffers. `before`
// are the targets' contents, to which the sums are added; if empty, targets are overwritten.
inline std::vector<Bytes> combined(DeviceKind kind, const GaloisMatrix& coefficients,
                                   const std::vector<Bytes>& sources, std::size_t offset = 0,
                                   const std::vector<Bytes>& before = {}) {
  const Device& where = device(kind);
  const std::size_t size_bytes = sources.at(0).size();
  std::vector<DeviceBuffer> buffers;
  std::vector<const std::byte*> from;
  std::vector<std::byte*> to;
  const auto put = [&](const Bytes& block) {
    Bytes padded(offset + size_bytes);
    std::copy(block.begin(), block.end(), padded.begin() + static_cast<std::ptrdiff_t>(offset));
    buffers.emplace_back(where, padded.size());
    buffers.back().upload(padded);
    return buffers.back().data() + offset;
  };
  for (const Bytes& source : sources) from.push_back(put(source));
  for (int row = 0; row < coefficients.rows; ++row) {
    to.push_back(put(before.empty() ? Bytes(size_bytes) : before[static_cast<size_t>(row)]));
  }
  galois_code(kind).combine(coefficients.values.data(), coefficients.rows, from.data(),
                            coefficients.columns, to.data(), size_bytes, !before.empty());
  where.synchronize();
  std::vector<Bytes> result;
  for (int row = 0; row < coefficients.rows; ++row) {
    const Bytes all = buffers[sources.size() + static_cast<size_t>(row)].download();
    result.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(offset), all.end());
  }
  return result;
}

// Computes byte by byte, by the definition of the field.
inline std::vector<Bytes> plainly_combined(const GaloisMatrix& coefficients,
                                           const std::vector<Bytes>& sources) {
  std::vector<Bytes> result;
  for (int row = 0; row < coefficients.rows; ++row) {
    Bytes& sum = result.emplace_back(sources.at(0).size());
    for (size_t j = 0; j < sources.size(); ++j) {
      for (size_t i = 0; i < sum.size(); ++i) {
        sum[i] ^= std::byte{gf_multiply(coefficients.at(row, static_cast<int>(j)),
                                        std::to_integer<std::uint8_t>(sources[j][i]))};
      }
    }
  }
  return result;
}

// Encodes, updates and rebuilds on the device, with a random code, block sizes, changed block and
// losses. Sizes lie around the boundaries of vectors, and far above.
inline void expect_random_code(DeviceKind kind, std::uint64_t seed) {
  RandomStream random(seed, RandomPurpose::test, 0);
  const int k = 1 + static_cast<int>(random.below(32));
  const int m = 1 + static_cast<int>(random.below(8));
  const std::size_t size_bytes = 1 + random.below(random.below(4) == 0 ? 20000 : 200);
  const std::size_t offset = random.below(2) == 0 ? 0 : random.below(40);
  SCOPED_TRACE(::testing::Message() << "seed " << seed << ": " << k << " + " << m << " blocks of "
                                    << size_bytes << " bytes, offset " << offset);
  const GaloisMatrix parity = cauchy_parity(k, m);
  std::vector<Bytes> blocks;
  for (int j = 0; j < k; ++j) blocks.push_back(random_block(random, size_bytes));
  std::vector<Bytes> codes = combined(kind, parity, blocks, offset);
  ASSERT_EQ(codes, plainly_combined(parity, blocks));

  // One block changes; its difference is added to the parity.
  const auto changed = static_cast<int>(random.below(static_cast<std::uint64_t>(k)));
  const Bytes after = random_block(random, size_bytes);
  Bytes difference = after;
  for (size_t i = 0; i < size_bytes; ++i) difference[i] ^= blocks[static_cast<size_t>(changed)][i];
  GaloisMatrix column = zero_matrix(m, 1);
  for (int row = 0; row < m; ++row) column.at(row, 0) = parity.at(row, changed);
  codes = combined(kind, column, {difference}, offset, codes);
  blocks[static_cast<size_t>(changed)] = after;
  ASSERT_EQ(codes, plainly_combined(parity, blocks));

  std::vector<Bytes> all = blocks;
  all.insert(all.end(), codes.begin(), codes.end());
  std::vector<int> order(all.size());
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
  order.resize(1 + random.below(static_cast<std::uint64_t>(m)));
  const Rebuild rebuild = rebuild_of(parity, order);
  std::vector<Bytes> left;
  for (const int source : rebuild.sources) left.push_back(all[static_cast<size_t>(source)]);
  const std::vector<Bytes> rebuilt = combined(kind, rebuild.coefficients, left, offset);
  for (size_t i = 0; i < order.size(); ++i) {
    ASSERT_EQ(rebuilt[i], all[static_cast<size_t>(order[i])]) << "block " << order[i];
  }
}

}  // namespace windtunnel

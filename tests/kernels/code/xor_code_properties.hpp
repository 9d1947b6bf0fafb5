// What must hold of the XOR code on any device; one test file per device calls it.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/code/xor_code.hpp"
#include "models/base/random.hpp"

namespace windtunnel {

inline std::vector<std::byte> random_bytes(RandomStream& random, std::size_t size_bytes) {
  std::vector<std::byte> bytes(size_bytes);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(256));
  return bytes;
}

// One random code word: k data blocks that start `offset` bytes into their buffers.
struct XorCase {
  int blocks = 0;
  std::size_t size_bytes = 0;
  std::size_t offset = 0;
  std::uint64_t seed = 0;
};

inline std::vector<std::byte> slice(const std::vector<std::byte>& bytes, std::size_t offset,
                                    std::size_t size_bytes) {
  const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(offset);
  return {first, first + static_cast<std::ptrdiff_t>(size_bytes)};
}

// Encodes the k blocks, checks the parity byte by byte, then loses each of the k+1 blocks in turn
// and rebuilds it from the others. Bytes around a target must stay as they were.
inline void expect_rebuilds(DeviceKind kind, const XorCase& sizes) {
  constexpr std::size_t kMarginBytes = 8;
  const Device& where = device(kind);
  const std::size_t buffer_bytes = sizes.offset + sizes.size_bytes + kMarginBytes;
  RandomStream random(sizes.seed, RandomPurpose::test, 0);

  std::vector<std::vector<std::byte>> words;  // k data blocks, then the parity
  std::vector<DeviceBuffer> buffers;
  std::vector<std::byte> parity(sizes.size_bytes);
  for (int block = 0; block < sizes.blocks; ++block) {
    words.push_back(random_bytes(random, buffer_bytes));
    buffers.emplace_back(where, buffer_bytes);
    buffers.back().upload(words.back());
    for (std::size_t i = 0; i < sizes.size_bytes; ++i) {
      parity[i] ^= words.back()[sizes.offset + i];
    }
  }

  const auto combine_all_but = [&](std::size_t lost) {
    const std::vector<std::byte> before = random_bytes(random, buffer_bytes);
    DeviceBuffer target(where, buffer_bytes);
    target.upload(before);
    std::vector<const std::byte*> sources;
    for (std::size_t other = 0; other < buffers.size(); ++other) {
      if (other != lost) sources.push_back(buffers[other].data() + sizes.offset);
    }
    xor_code(kind).combine(sources.data(), static_cast<int>(sources.size()),
                           target.data() + sizes.offset, sizes.size_bytes);
    where.synchronize();
    std::vector<std::byte> after = target.download();
    EXPECT_EQ(slice(after, 0, sizes.offset), slice(before, 0, sizes.offset));
    EXPECT_EQ(slice(after, buffer_bytes - kMarginBytes, kMarginBytes),
              slice(before, buffer_bytes - kMarginBytes, kMarginBytes));
    return after;
  };

  words.push_back(combine_all_but(buffers.size()));
  EXPECT_EQ(slice(words.back(), sizes.offset, sizes.size_bytes), parity);
  buffers.emplace_back(where, buffer_bytes);
  buffers.back().upload(words.back());
  for (std::size_t lost = 0; lost < buffers.size(); ++lost) {
    EXPECT_EQ(slice(combine_all_but(lost), sizes.offset, sizes.size_bytes),
              slice(words[lost], sizes.offset, sizes.size_bytes))
        << "block " << lost << " lost";
  }
}

// Sizes lie on both sides of every boundary of the implementations (vector words, pieces); further
// ones are random.
inline void expect_rebuilds_for_many_sizes(DeviceKind kind) {
  const auto check = [kind](const XorCase& sizes) {
    SCOPED_TRACE(::testing::Message() << sizes.blocks << " blocks of " << sizes.size_bytes
                                      << " bytes, offset " << sizes.offset);
    expect_rebuilds(kind, sizes);
  };
  for (const std::size_t size_bytes : {0, 1, 15, 16, 17, 31, 32, 33, 127, 128, 129, 8191, 8193}) {
    for (const std::size_t offset : {0, 1, 16, 32}) check({3, size_bytes, offset, size_bytes});
  }
  RandomStream random(20240701, RandomPurpose::test, 1);
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    check({static_cast<int>(1 + random.below(9)), random.below(20000), random.below(70), seed});
  }
}

}  // namespace windtunnel

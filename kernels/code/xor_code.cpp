#include "kernels/code/xor_code.hpp"

#include <isa-l/raid.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/device/cuda_entries.hpp"
#include "models/base/error.hpp"

namespace windtunnel {
namespace {

// xor_gen uses aligned vector instructions (isa-l/raid.h: 32 bytes).
constexpr std::uintptr_t kIsalAlignmentBytes = 32;
// xor_gen takes its length as an int.
constexpr std::size_t kIsalPieceBytes = std::size_t{1} << 30;

bool aligned(const std::byte* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % kIsalAlignmentBytes == 0;
}

void combine_aligned(const std::byte* const* sources, int count, std::byte* target,
                     std::size_t size_bytes) {
  std::vector<void*> blocks(static_cast<std::size_t>(count) + 1);
  for (std::size_t start = 0; start < size_bytes; start += kIsalPieceBytes) {
    // The sources are only read, but the C interface has one array for sources and target.
    std::transform(sources, sources + count, blocks.begin(),
                   [&](const std::byte* block) { return const_cast<std::byte*>(block + start); });
    blocks.back() = target + start;
    const int status = xor_gen(
        count + 1, static_cast<int>(std::min(kIsalPieceBytes, size_bytes - start)), blocks.data());
    CHECK(status == 0, "xor_gen of {} blocks returned {}", count, status);
  }
}

template <typename Word>
void combine_word(const std::byte* const* sources, int count, std::byte* target,
                  std::size_t start) {
  Word sum{};
  for (int j = 0; j < count; ++j) {
    Word word;
    std::memcpy(&word, sources[j] + start, sizeof word);  // memcpy can read at any alignment
    sum ^= word;
  }
  std::memcpy(target + start, &sum, sizeof sum);
}

void combine_unaligned(const std::byte* const* sources, int count, std::byte* target,
                       std::size_t size_bytes) {
  std::size_t start = 0;
  for (; start + sizeof(std::uint64_t) <= size_bytes; start += sizeof(std::uint64_t)) {
    combine_word<std::uint64_t>(sources, count, target, start);
  }
  for (; start < size_bytes; ++start) combine_word<std::uint8_t>(sources, count, target, start);
}

void combine(const std::byte* const* sources, int count, std::byte* target,
             std::size_t size_bytes) {
  CHECK(count >= 1, "XOR of {} blocks", count);
  // xor_gen needs at least two sources; one is a copy.
  if (count >= 2 && aligned(target) && std::all_of(sources, sources + count, aligned)) {
    combine_aligned(sources, count, target, size_bytes);
  } else {
    combine_unaligned(sources, count, target, size_bytes);
  }
}

constexpr XorCode kCpu = {combine};

}  // namespace

const XorCode& xor_code(DeviceKind kind) {
  return kind == DeviceKind::cuda ? cuda_xor_code() : kCpu;
}

}  // namespace windtunnel

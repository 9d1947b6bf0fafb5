#include <algorithm>
#include <cstdint>

#include "kernels/code/xor_code.hpp"
#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_entries.hpp"
#include "kernels/device/work_stream.cuh"

namespace windtunnel {
namespace {

// Block pointers travel as a kernel argument (at most 4 KiB on every architecture).
constexpr int kMaxSources = 64;
constexpr int kThreads = 256;
// Enough blocks to fill every SM of the largest devices; each thread then strides over the rest.
constexpr std::size_t kMaxBlocks = 132 * 32;

struct Sources {
  const std::byte* block[kMaxSources];
  int count;
};

__device__ unsigned char exclusive_or(unsigned char a, unsigned char b) {
  return a ^ b;
}
__device__ uint4 exclusive_or(uint4 a, uint4 b) {
  return make_uint4(a.x ^ b.x, a.y ^ b.y, a.z ^ b.z, a.w ^ b.w);
}

// Word is uint4 (if every pointer is aligned to 16 bytes) or a byte. Sources are read in groups of
// four whose loads overlap in time; missing sources are zeros.
template <typename Word>
__global__ void __launch_bounds__(kThreads, 8)
    xor_kernel(const Sources sources, std::byte* target, std::size_t words) {
  const std::size_t stride = std::size_t{gridDim.x} * kThreads;
  for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < words; i += stride) {
    Word sum = {};
#pragma unroll 1
    for (int first = 0; first < sources.count; first += 4) {
      Word four[4] = {};
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (first + j < sources.count) {
          four[j] = __ldcs(reinterpret_cast<const Word*>(sources.block[first + j]) + i);
        }
      }
      sum = exclusive_or(
          sum, exclusive_or(exclusive_or(four[0], four[1]), exclusive_or(four[2], four[3])));
    }
    __stcs(reinterpret_cast<Word*>(target) + i, sum);
  }
}

template <typename Word>
void launch(const Sources& sources, std::byte* target, std::size_t words) {
  if (words == 0) return;
  const std::size_t blocks = std::min((words + kThreads - 1) / kThreads, kMaxBlocks);
  xor_kernel<Word>
      <<<static_cast<unsigned>(blocks), kThreads, 0, work_stream()>>>(sources, target, words);
  CHECK_CUDA(cudaGetLastError());
}

bool aligned(const std::byte* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % sizeof(uint4) == 0;
}

// Processes whole words if the alignment allows, then the tail byte by byte.
void combine_batch(Sources sources, std::byte* target, std::size_t size_bytes) {
  std::size_t words = 0;
  if (aligned(target) && std::all_of(sources.block, sources.block + sources.count, aligned)) {
    words = size_bytes / sizeof(uint4);
    launch<uint4>(sources, target, words);
  }
  const std::size_t done_bytes = words * sizeof(uint4);
  for (int j = 0; j < sources.count; ++j) sources.block[j] += done_bytes;
  launch<unsigned char>(sources, target + done_bytes, size_bytes - done_bytes);
}

// If there are more sources than one launch takes, the target becomes a source of the next launch.
// Each thread reads a word of it before writing the same word, so this overlap is safe.
void combine(const std::byte* const* sources, int count, std::byte* target,
             std::size_t size_bytes) {
  CHECK(count >= 1, "XOR of {} blocks", count);
  for (int next = 0; next < count;) {
    Sources batch = {};
    if (next > 0) batch.block[batch.count++] = target;
    while (next < count && batch.count < kMaxSources) batch.block[batch.count++] = sources[next++];
    combine_batch(batch, target, size_bytes);
  }
}

constexpr XorCode kCuda = {combine};

}  // namespace

const XorCode& cuda_xor_code() {
  return kCuda;
}

}  // namespace windtunnel

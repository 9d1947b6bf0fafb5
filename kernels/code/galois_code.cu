#include <algorithm>
#include <cstdint>

#include "kernels/code/galois_code.hpp"
#include "kernels/code/galois_words.cuh"
#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_entries.hpp"
#include "kernels/device/work_stream.cuh"

namespace windtunnel {
namespace {

constexpr int kMaxSources = 64;  // per launch: pointers and coefficients are kernel arguments
constexpr int kMaxRows = 8;      // the sums of all rows stay in registers
constexpr int kThreads = 256;
// Fills every SM of the largest devices, in whole waves of 2, 3 or 4 blocks per SM.
constexpr std::size_t kMaxBlocks = 132 * 24;

// Blocks per SM such that the sums and the selectors of two sources stay in registers.
constexpr int blocks_of_processor(int rows) {
  return rows <= 2 ? 4 : (rows <= 7 ? 3 : 2);
}

struct Sums {
  const std::byte* source[kMaxSources];
  std::byte* target[kMaxRows];
  std::uint8_t coefficient[kMaxRows][kMaxSources];
  int count;
  bool add;
};

// A thread's unit of work has kWords words, or is a single byte (kWords = 0) where data are
// unaligned and at the end.
template <int kWords>
struct Piece;

template <>
struct Piece<4> {
  static constexpr int kCount = 4;
  static __device__ void load(const std::byte* from, std::size_t i, std::uint32_t (&words)[4]) {
    const uint4 v = __ldcs(reinterpret_cast<const uint4*>(from) + i);
    words[0] = v.x;
    words[1] = v.y;
    words[2] = v.z;
    words[3] = v.w;
  }
  static __device__ void store(std::byte* to, std::size_t i, const std::uint32_t (&words)[4]) {
    __stcs(reinterpret_cast<uint4*>(to) + i, make_uint4(words[0], words[1], words[2], words[3]));
  }
};

template <>
struct Piece<0> {
  static constexpr int kCount = 1;
  static __device__ void load(const std::byte* from, std::size_t i, std::uint32_t (&words)[1]) {
    words[0] = __ldcs(reinterpret_cast<const unsigned char*>(from) + i);
  }
  static __device__ void store(std::byte* to, std::size_t i, const std::uint32_t (&words)[1]) {
    __stcs(reinterpret_cast<unsigned char*>(to) + i, static_cast<unsigned char>(words[0]));
  }
};

// The tables of a launch. Low and middle ones are adjacent, so that two reads fetch a whole entry.
template <int kRows>
struct Tables {
  uint4 low_and_middle[kMaxSources * kRows];
  std::uint32_t high[kMaxSources * kRows];
};

// Adds the products of sources first .. first + kGroup - 1. All loads come first, so that they
// overlap in time.
template <int kGroup, int kRows, typename P>
__device__ void add_group(const Sums& sums, const Tables<kRows>& tables, int first, std::size_t i,
                          std::uint32_t (&sum)[kRows][P::kCount]) {
  std::uint32_t words[kGroup][P::kCount];
#pragma unroll
  for (int j = 0; j < kGroup; ++j) P::load(sums.source[first + j], i, words[j]);
  GaloisSelectors selectors[kGroup][P::kCount];
#pragma unroll
  for (int j = 0; j < kGroup; ++j) {
#pragma unroll
    for (int w = 0; w < P::kCount; ++w) selectors[j][w] = galois_selectors(words[j][w]);
  }
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
#pragma unroll
    for (int j = 0; j < kGroup; ++j) {
      const int entry = (first + j) * kRows + row;
      const uint4 t = tables.low_and_middle[entry];
      const GaloisTable table = {{t.x, t.y}, {t.z, t.w}, tables.high[entry]};
#pragma unroll
      for (int w = 0; w < P::kCount; ++w) {
        add_galois_product(table, selectors[j][w], sum[row][w]);
      }
    }
  }
}

template <int kRows, int kWords>
__global__ void __launch_bounds__(kThreads, blocks_of_processor(kRows))
    galois_kernel(const Sums sums, std::size_t pieces) {
  using P = Piece<kWords>;
  constexpr int kGroup = kRows <= 2 ? 4 : 2;  // limited by registers
  __shared__ Tables<kRows> tables;
  for (int i = static_cast<int>(threadIdx.x); i < sums.count * kRows; i += kThreads) {
    const GaloisTable table = galois_table(sums.coefficient[i % kRows][i / kRows]);
    tables.low_and_middle[i] =
        make_uint4(table.low[0], table.low[1], table.middle[0], table.middle[1]);
    tables.high[i] = table.high;
  }
  __syncthreads();
  const std::size_t stride = std::size_t{gridDim.x} * kThreads;
  for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < pieces; i += stride) {
    std::uint32_t sum[kRows][P::kCount] = {};
    if (sums.add) {
#pragma unroll
      for (int row = 0; row < kRows; ++row) P::load(sums.target[row], i, sum[row]);
#pragma unroll
      for (int row = 0; row < kRows; ++row) {
#pragma unroll
        for (int w = 0; w < P::kCount; ++w) sum[row][w] = bytes_as_selected(sum[row][w]);
      }
    }
    int next = 0;
#pragma unroll 1
    for (; next + kGroup <= sums.count; next += kGroup) {
      add_group<kGroup, kRows, P>(sums, tables, next, i, sum);
    }
    if (kGroup > 2 && next + 2 <= sums.count) {
      add_group<2, kRows, P>(sums, tables, next, i, sum);
      next += 2;
    }
    if (next < sums.count) add_group<1, kRows, P>(sums, tables, next, i, sum);
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
#pragma unroll
      for (int w = 0; w < P::kCount; ++w) sum[row][w] = bytes_in_order(sum[row][w]);
      P::store(sums.target[row], i, sum[row]);
    }
  }
}

template <int kRows, int kWords>
void launch(const Sums& sums, std::size_t pieces) {
  if (pieces == 0) return;
  const std::size_t blocks = std::min((pieces + kThreads - 1) / kThreads, kMaxBlocks);
  galois_kernel<kRows, kWords>
      <<<static_cast<unsigned>(blocks), kThreads, 0, work_stream()>>>(sums, pieces);
  CHECK_CUDA(cudaGetLastError());
}

template <int kWords>
void launch_rows(int rows, const Sums& sums, std::size_t pieces) {
  constexpr decltype(&launch<1, kWords>) kByRows[kMaxRows] = {
      launch<1, kWords>, launch<2, kWords>, launch<3, kWords>, launch<4, kWords>,
      launch<5, kWords>, launch<6, kWords>, launch<7, kWords>, launch<8, kWords>};
  kByRows[rows - 1](sums, pieces);
}

bool aligned(const std::byte* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % sizeof(uint4) == 0;
}

// Processes whole vectors if the alignment allows, then the tail byte by byte.
void combine_batch(int rows, Sums sums, std::size_t size_bytes) {
  std::size_t vectors = 0;
  if (std::all_of(sums.source, sums.source + sums.count, aligned) &&
      std::all_of(sums.target, sums.target + rows, aligned)) {
    vectors = size_bytes / sizeof(uint4);
    launch_rows<4>(rows, sums, vectors);
  }
  const std::size_t done_bytes = vectors * sizeof(uint4);
  for (int j = 0; j < sums.count; ++j) sums.source[j] += done_bytes;
  for (int row = 0; row < rows; ++row) sums.target[row] += done_bytes;
  launch_rows<0>(rows, sums, size_bytes - done_bytes);
}

void combine(const std::uint8_t* coefficients, int rows, const std::byte* const* sources, int count,
             std::byte* const* targets, std::size_t size_bytes, bool add) {
  CHECK(rows >= 1 && count >= 1, "{} sums of {} blocks", rows, count);
  for (int row = 0; row < rows; row += kMaxRows) {
    const int batch_rows = std::min(kMaxRows, rows - row);
    for (int j = 0; j < count; j += kMaxSources) {
      Sums sums = {};
      sums.count = std::min(kMaxSources, count - j);
      sums.add = add || j > 0;
      std::copy(sources + j, sources + j + sums.count, sums.source);
      std::copy(targets + row, targets + row + batch_rows, sums.target);
      for (int i = 0; i < batch_rows; ++i) {
        const std::uint8_t* const from =
            coefficients + std::size_t(row + i) * std::size_t(count) + j;
        std::copy(from, from + sums.count, sums.coefficient[i]);
      }
      combine_batch(batch_rows, sums, size_bytes);
    }
  }
}

constexpr GaloisCode kCuda = {combine};

}  // namespace

const GaloisCode& cuda_galois_code() {
  return kCuda;
}

}  // namespace windtunnel

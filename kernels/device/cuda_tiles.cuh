// Helpers of the compressors' CUDA kernels: the grid, streaming accesses of 16 bytes, and the
// exchange of codes between lanes so that each lane writes a whole word.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/device/cuda_check.cuh"
#include "kernels/device/lane_words.cuh"
#include "kernels/device/work_stream.cuh"

namespace windtunnel {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr unsigned kAllLanes = 0xffffffffu;

// Enough blocks to fill every SM of the largest devices, in whole waves of 1, 2, 3, 4, 6 or 8
// blocks per SM; each warp or thread then strides over the rest.
inline unsigned grid_of(std::size_t pieces, std::size_t pieces_per_block) {
  constexpr std::size_t kMaxBlocks = 132 * 24;
  return static_cast<unsigned>(
      std::min((pieces + pieces_per_block - 1) / pieces_per_block, kMaxBlocks));
}

__device__ inline std::size_t first_warp() {
  return (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
}
__device__ inline std::size_t warp_stride() {
  return std::size_t{gridDim.x} * blockDim.x / 32;
}
__device__ inline unsigned lane_of_warp() {
  return threadIdx.x % 32;
}

// Loads elements at .. at + 3 (at: a multiple of 4) of an array aligned to 16 bytes; zeros beyond
// the end. kWhole: all are inside. Without branches, the loads of a tile can all start at once.
template <bool kWhole = false>
__device__ inline float4 load_quad(const float* from, std::size_t at, std::size_t elements) {
  if (kWhole || at + 4 <= elements) return __ldcs(reinterpret_cast<const float4*>(from + at));
  float4 quad = make_float4(0, 0, 0, 0);
  if (at < elements) quad.x = from[at];
  if (at + 1 < elements) quad.y = from[at + 1];
  if (at + 2 < elements) quad.z = from[at + 2];
  return quad;
}

// Loads quads that are `stride` elements apart, from `at` on. `whole`: all are inside; the loads
// then follow each other directly and overlap in time.
template <int kQuads>
__device__ void load_quads(const float* from, std::size_t at, std::size_t stride,
                           std::size_t elements, bool whole, float4 (&quads)[kQuads]) {
  if (whole) {
#pragma unroll
    for (int i = 0; i < kQuads; ++i) quads[i] = load_quad<true>(from, at + i * stride, elements);
  } else {
#pragma unroll
    for (int i = 0; i < kQuads; ++i) quads[i] = load_quad(from, at + i * stride, elements);
  }
}

template <bool kWhole = false>
__device__ inline void store_quad(float* to, std::size_t at, std::size_t elements, float4 quad) {
  if (kWhole || at + 4 <= elements) {
    __stcs(reinterpret_cast<float4*>(to + at), quad);
    return;
  }
  if (at < elements) to[at] = quad.x;
  if (at + 1 < elements) to[at + 1] = quad.y;
  if (at + 2 < elements) to[at + 2] = quad.z;
}

// Transposes a bit matrix whose rows are the words of kLanes neighbouring lanes (8 or 4).
template <unsigned kLanes>
__device__ inline std::uint32_t transposed(std::uint32_t word) {
#pragma unroll
  for (unsigned distance = kLanes / 2; distance > 0; distance /= 2) {
    const std::uint32_t other = __shfl_xor_sync(kAllLanes, word, distance);
    word = exchanged(word, other, (lane_of_warp() & distance) != 0, distance * 32 / kLanes);
  }
  return word;
}

}  // namespace windtunnel

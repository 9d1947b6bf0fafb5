#include "kernels/compression/ternary.hpp"
#include "kernels/compression/ternary_words.cuh"
#include "kernels/device/alignment.hpp"
#include "kernels/device/cuda_entries.hpp"
#include "kernels/device/cuda_tiles.cuh"

namespace windtunnel {
namespace {

// A warp processes 4 rows, each lane a quad of each row. Lane 4 g + j ends with word g of row j.
constexpr int kRows = 4;
constexpr std::size_t kRow = 128;
constexpr std::size_t kTile = kRows * kRow;

__device__ std::size_t tiles_of(std::size_t elements) {
  return (elements + kTile - 1) / kTile;
}

__global__ void __launch_bounds__(kThreads)
    maximum_kernel(const float* x, std::size_t elements, std::uint32_t* maximum) {
  std::uint32_t largest = 0;
  for (std::size_t tile = first_warp(); tile < tiles_of(elements); tile += warp_stride()) {
    float4 quads[kRows];
    load_quads(x, tile * kTile + 4 * lane_of_warp(), kRow, elements, (tile + 1) * kTile <= elements,
               quads);
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      const float4 quad = quads[row];
      largest = max(largest, max(max(magnitude_bits(quad.x), magnitude_bits(quad.y)),
                                 max(magnitude_bits(quad.z), magnitude_bits(quad.w))));
    }
  }
  largest = __reduce_max_sync(kAllLanes, largest);
  if (lane_of_warp() == 0) atomicMax(maximum, largest);
}

// These are codes of a lane's quads, a byte per quad.
__device__ std::uint32_t encoded_tile(const float* x, std::size_t elements, std::size_t tile,
                                      float maximum, std::uint64_t seed) {
  const std::size_t first = tile * kTile + 4 * lane_of_warp();
  float4 quads[kRows];
  load_quads(x, first, kRow, elements, (tile + 1) * kTile <= elements, quads);
  std::uint32_t bytes = 0;
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
    const RandomWords random = philox(seed, (first + row * kRow) / 4);
    const std::uint32_t codes = ternary_code(quads[row].x, random.word[0], maximum) |
                                ternary_code(quads[row].y, random.word[1], maximum) << 2 |
                                ternary_code(quads[row].z, random.word[2], maximum) << 4 |
                                ternary_code(quads[row].w, random.word[3], maximum) << 6;
    bytes |= codes << 8 * row;
  }
  return bytes;
}

__global__ void __launch_bounds__(kThreads)
    encode_kernel(const float* x, std::size_t elements, std::size_t size, const float* maximum,
                  std::uint64_t seed, std::uint32_t* words) {
  const float largest = *maximum;
  const unsigned lane = lane_of_warp();
  for (std::size_t tile = first_warp(); tile < tiles_of(elements); tile += warp_stride()) {
    const std::uint32_t word = transposed<4>(encoded_tile(x, elements, tile, largest, seed));
    const std::size_t at = tile * 32 + lane % 4 * 8 + lane / 4;
    if (at < size) __stcs(words + at, word);
  }
}

__global__ void __launch_bounds__(kThreads)
    decode_kernel(const std::uint32_t* words, std::size_t elements, std::size_t size,
                  const float* maximum, float* x) {
  const float largest = *maximum;
  const unsigned lane = lane_of_warp();
  for (std::size_t tile = first_warp(); tile < tiles_of(elements); tile += warp_stride()) {
    const std::size_t word_at = tile * 32 + lane;
    const std::uint32_t own = word_at < size ? __ldcs(words + word_at) : 0;
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      const std::uint32_t codes = __shfl_sync(kAllLanes, own, row * 8 + lane / 4) >> (lane % 4 * 8);
      store_quad(
          x, tile * kTile + row * kRow + 4 * lane, elements,
          make_float4(ternary_value(codes, largest), ternary_value(codes >> 2, largest),
                      ternary_value(codes >> 4, largest), ternary_value(codes >> 6, largest)));
    }
  }
}

unsigned tile_grid(std::size_t elements) {
  return grid_of(elements, kWarps * kTile);
}

void maximum(const float* x, std::size_t elements, float* maximum) {
  check_alignment(x);
  CHECK_CUDA(cudaMemsetAsync(maximum, 0, sizeof *maximum, work_stream()));
  if (elements == 0) return;
  // A thread takes several quads, so that fewer blocks compete for the one result.
  maximum_kernel<<<grid_of(elements, 4 * kWarps * kTile), kThreads, 0, work_stream()>>>(
      x, elements, reinterpret_cast<std::uint32_t*>(maximum));
  CHECK_CUDA(cudaGetLastError());
}

void encode(const float* x, std::size_t elements, const float* maximum, std::uint64_t seed,
            std::uint32_t* words) {
  check_alignment(x, words);
  if (elements == 0) return;
  encode_kernel<<<tile_grid(elements), kThreads, 0, work_stream()>>>(
      x, elements, ternary_words(elements), maximum, seed, words);
  CHECK_CUDA(cudaGetLastError());
}

void decode(const std::uint32_t* words, std::size_t elements, const float* maximum, float* x) {
  check_alignment(words, x);
  if (elements == 0) return;
  decode_kernel<<<tile_grid(elements), kThreads, 0, work_stream()>>>(
      words, elements, ternary_words(elements), maximum, x);
  CHECK_CUDA(cudaGetLastError());
}

constexpr Ternary kCuda = {maximum, encode, decode};

}  // namespace

const Ternary& cuda_ternary() {
  return kCuda;
}

}  // namespace windtunnel

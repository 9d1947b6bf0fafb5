#include "kernels/compression/sign_code.hpp"
#include "kernels/compression/vote_words.cuh"
#include "kernels/device/alignment.hpp"
#include "kernels/device/cuda_entries.hpp"
#include "kernels/device/cuda_tiles.cuh"

namespace windtunnel {
namespace {

// A warp processes 8 rows, each lane a quad of each row. Lane 8 g + j ends with word g of row j.
constexpr int kRows = 8;
constexpr std::size_t kRow = 128;
constexpr std::size_t kTile = kRows * kRow;

__device__ std::size_t tiles_of(std::size_t elements) {
  return (elements + kTile - 1) / kTile;
}

// Sign bits of the quad at `at`; none beyond the end.
template <bool kWhole>
__device__ std::uint32_t signs_of(float4 quad, std::size_t at, std::size_t elements) {
  const std::uint32_t signs = (quad.x >= 0 ? 1u : 0u) | (quad.y >= 0 ? 2u : 0u) |
                              (quad.z >= 0 ? 4u : 0u) | (quad.w >= 0 ? 8u : 0u);
  if (kWhole || at + 4 <= elements) return signs;
  return at < elements ? signs & ((1u << (elements - at)) - 1) : 0;
}

__device__ void store_signs(std::uint32_t nibbles, std::size_t tile, std::size_t size,
                            std::uint32_t* words) {
  const std::uint32_t word = transposed<8>(nibbles);
  const unsigned lane = lane_of_warp();
  const std::size_t at = tile * 32 + lane % 8 * 4 + lane / 8;
  if (at < size) __stcs(words + at, word);
}

template <bool kWhole>
__device__ std::uint32_t packed_tile(const float* x, std::size_t elements, std::size_t tile) {
  float4 quads[kRows];
  const std::size_t first = tile * kTile + 4 * lane_of_warp();
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
    quads[row] = load_quad<kWhole>(x, first + row * kRow, elements);
  }
  std::uint32_t nibbles = 0;
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
    nibbles |= signs_of<kWhole>(quads[row], first + row * kRow, elements) << 4 * row;
  }
  return nibbles;
}

__global__ void __launch_bounds__(kThreads)
    pack_kernel(const float* x, std::size_t elements, std::size_t size, std::uint32_t* words) {
  for (std::size_t tile = first_warp(); tile < tiles_of(elements); tile += warp_stride()) {
    const bool whole = (tile + 1) * kTile <= elements;
    store_signs(
        whole ? packed_tile<true>(x, elements, tile) : packed_tile<false>(x, elements, tile), tile,
        size, words);
  }
}

__device__ float scale_of(const double* magnitude, std::size_t elements) {
  return static_cast<float>(*magnitude / static_cast<double>(elements));
}

__device__ float4 signed_scales(std::uint32_t nibble, float scale) {
  return make_float4((nibble & 1u) != 0 ? scale : -scale, (nibble & 2u) != 0 ? scale : -scale,
                     (nibble & 4u) != 0 ? scale : -scale, (nibble & 8u) != 0 ? scale : -scale);
}

__global__ void __launch_bounds__(kThreads)
    unpack_kernel(const std::uint32_t* words, std::size_t elements, std::size_t size,
                  const double* magnitude, float* x) {
  const float scale = scale_of(magnitude, elements);
  const unsigned lane = lane_of_warp();
  for (std::size_t tile = first_warp(); tile < tiles_of(elements); tile += warp_stride()) {
    const std::size_t word_at = tile * 32 + lane;
    const std::uint32_t own = word_at < size ? __ldcs(words + word_at) : 0;
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      const std::uint32_t word = __shfl_sync(kAllLanes, own, row * 4 + lane / 8);
      store_quad(x, tile * kTile + row * kRow + 4 * lane, elements,
                 signed_scales(word >> (lane % 8 * 4), scale));
    }
  }
}

__device__ float4 sum_of(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

__device__ double magnitude_of(float4 quad) {
  return (static_cast<double>(fabsf(quad.x)) + static_cast<double>(fabsf(quad.y))) +
         (static_cast<double>(fabsf(quad.z)) + static_cast<double>(fabsf(quad.w)));
}

// Adds the values of all threads of a block to *sum.
__device__ void add_up(double own, double* sum) {
  __shared__ double of_warps[kWarps];
#pragma unroll
  for (unsigned distance = 16; distance > 0; distance /= 2) {
    own += __shfl_xor_sync(kAllLanes, own, distance);
  }
  if (lane_of_warp() == 0) of_warps[threadIdx.x / 32] = own;
  __syncthreads();
  if (threadIdx.x != 0) return;
  double all = 0;
  for (int warp = 0; warp < kWarps; ++warp) all += of_warps[warp];
  atomicAdd(sum, all);
}

constexpr int kHalfRows = kRows / 2;

// Sums of a lane's quads in half a tile, from element `first` on; the 8 loads overlap in time.
template <bool kWhole>
__device__ void load_sums(const float* x, const float* y, std::size_t first, std::size_t elements,
                          float4 (&sums)[kHalfRows]) {
#pragma unroll
  for (int row = 0; row < kHalfRows; ++row) {
    const std::size_t at = first + row * kRow;
    sums[row] = sum_of(load_quad<kWhole>(x, at, elements), load_quad<kWhole>(y, at, elements));
  }
}

__global__ void __launch_bounds__(kThreads)
    magnitude_kernel(const float* x, const float* y, std::size_t elements, double* sum) {
  constexpr std::size_t kHalf = kHalfRows * kRow;
  double own = 0;
  const std::size_t halves = (elements + kHalf - 1) / kHalf;
  for (std::size_t half = first_warp(); half < halves; half += warp_stride()) {
    const std::size_t first = half * kHalf + 4 * lane_of_warp();
    float4 sums[kHalfRows];
    if ((half + 1) * kHalf <= elements) {
      load_sums<true>(x, y, first, elements, sums);
    } else {
      load_sums<false>(x, y, first, elements, sums);
    }
#pragma unroll
    for (int row = 0; row < kHalfRows; ++row) own += magnitude_of(sums[row]);
  }
  add_up(own, sum);
}

// Returns the sign bits, and adds to `magnitude`.
template <bool kWhole>
__device__ std::uint32_t error_tile(const float* gradient, std::size_t elements, std::size_t tile,
                                    float scale, float* error, double& magnitude) {
  std::uint32_t nibbles = 0;
#pragma unroll
  for (int half = 0; half < kRows; half += kHalfRows) {
    const std::size_t first = tile * kTile + half * kRow + 4 * lane_of_warp();
    float4 sums[kHalfRows];
    load_sums<kWhole>(error, gradient, first, elements, sums);
#pragma unroll
    for (int row = 0; row < kHalfRows; ++row) {
      const std::size_t at = first + row * kRow;
      const float4 sum = sums[row];
      magnitude += magnitude_of(sum);
      const std::uint32_t signs = signs_of<kWhole>(sum, at, elements);
      const float4 sent = signed_scales(signs, scale);
      store_quad<kWhole>(
          error, at, elements,
          make_float4(sum.x - sent.x, sum.y - sent.y, sum.z - sent.z, sum.w - sent.w));
      nibbles |= signs << 4 * (half + row);
    }
  }
  return nibbles;
}

__global__ void __launch_bounds__(kThreads)
    error_kernel(const float* gradient, std::size_t elements, std::size_t size,
                 const double* magnitude, float* error, std::uint32_t* words, double* next) {
  const float scale = scale_of(magnitude, elements);
  double own = 0;
  for (std::size_t tile = first_warp(); tile < tiles_of(elements); tile += warp_stride()) {
    const bool whole = (tile + 1) * kTile <= elements;
    store_signs(whole ? error_tile<true>(gradient, elements, tile, scale, error, own)
                      : error_tile<false>(gradient, elements, tile, scale, error, own),
                tile, size, words);
  }
  add_up(own, next);
}

template <int kPlanes>
__global__ void __launch_bounds__(kThreads)
    vote_kernel(const uint4* words, int parts, std::size_t vectors, uint4* majority) {
  const auto bound = static_cast<std::uint32_t>(parts + 1) / 2;
  const std::size_t stride = std::size_t{gridDim.x} * kThreads;
  for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < vectors; i += stride) {
    VoteCounts<kPlanes> x = {}, y = {}, z = {}, w = {};
    for (int part = 0; part < parts; part += 4) {
      uint4 four[4] = {};
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (part + j < parts) four[j] = __ldcs(words + (part + j) * vectors + i);
      }
      add_votes(x, four[0].x, four[1].x, four[2].x, four[3].x);
      add_votes(y, four[0].y, four[1].y, four[2].y, four[3].y);
      add_votes(z, four[0].z, four[1].z, four[2].z, four[3].z);
      add_votes(w, four[0].w, four[1].w, four[2].w, four[3].w);
    }
    __stcs(majority + i, make_uint4(at_least(x, bound), at_least(y, bound), at_least(z, bound),
                                    at_least(w, bound)));
  }
}

unsigned tile_grid(std::size_t elements) {
  return grid_of(elements, kWarps * kTile);
}

void pack(const float* x, std::size_t elements, std::uint32_t* words) {
  check_alignment(x, words);
  if (elements == 0) return;
  pack_kernel<<<tile_grid(elements), kThreads, 0, work_stream()>>>(x, elements,
                                                                   sign_words(elements), words);
  CHECK_CUDA(cudaGetLastError());
}

void unpack(const std::uint32_t* words, std::size_t elements, const double* magnitude, float* x) {
  check_alignment(words, x);
  if (elements == 0) return;
  unpack_kernel<<<tile_grid(elements), kThreads, 0, work_stream()>>>(
      words, elements, sign_words(elements), magnitude, x);
  CHECK_CUDA(cudaGetLastError());
}

void magnitude(const float* x, const float* y, std::size_t elements, double* sum) {
  check_alignment(x, y);
  CHECK_CUDA(cudaMemsetAsync(sum, 0, sizeof *sum, work_stream()));
  if (elements == 0) return;
  magnitude_kernel<<<tile_grid(elements), kThreads, 0, work_stream()>>>(x, y, elements, sum);
  CHECK_CUDA(cudaGetLastError());
}

void error(const float* gradient, std::size_t elements, const double* lagged, float* error,
           std::uint32_t* words, double* next) {
  check_alignment(gradient, error, words);
  CHECK_CUDA(cudaMemsetAsync(next, 0, sizeof *next, work_stream()));
  if (elements == 0) return;
  error_kernel<<<tile_grid(elements), kThreads, 0, work_stream()>>>(
      gradient, elements, sign_words(elements), lagged, error, words, next);
  CHECK_CUDA(cudaGetLastError());
}

template <int kPlanes>
void vote_planes(const std::uint32_t* words, int parts, std::size_t elements,
                 std::uint32_t* majority) {
  const std::size_t vectors = sign_words(elements) / 4;
  vote_kernel<kPlanes><<<grid_of(vectors, kThreads), kThreads, 0, work_stream()>>>(
      reinterpret_cast<const uint4*>(words), parts, vectors, reinterpret_cast<uint4*>(majority));
}

void vote(const std::uint32_t* words, int parts, std::size_t elements, std::uint32_t* majority) {
  CHECK(parts >= 1 && parts <= kMaxVotes, "a vote of {}", parts);
  check_alignment(words, majority);
  if (elements == 0) return;
  if (parts < 16) {
    vote_planes<4>(words, parts, elements, majority);
  } else if (parts < 1024) {
    vote_planes<10>(words, parts, elements, majority);
  } else {
    vote_planes<16>(words, parts, elements, majority);
  }
  CHECK_CUDA(cudaGetLastError());
}

constexpr SignCode kCuda = {pack, unpack, magnitude, error, vote};

}  // namespace

const SignCode& cuda_sign_code() {
  return kCuda;
}

}  // namespace windtunnel

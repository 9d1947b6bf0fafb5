#include "kernels/compression/sketch.hpp"
#include "kernels/compression/sketch_words.cuh"
#include "kernels/device/alignment.hpp"
#include "kernels/device/cuda_entries.hpp"
#include "kernels/device/cuda_tiles.cuh"

namespace windtunnel {
namespace {

// A warp processes 8 rows, each lane a quad of each row. Lane 8 g + j ends with word g of row j.
constexpr int kRows = 8;
constexpr std::size_t kRow = 128;
constexpr std::size_t kTile = kRows * kRow;

// Non-zero elements that a warp has found but not counted yet. They are collected so that all lanes
// can count at once, however sparse x is.
struct Found {
  float value[32 + kRow];
  std::uint32_t index[32 + kRow];
};

__device__ std::size_t tiles_of(std::size_t elements) {
  return (elements + kTile - 1) / kTile;
}

__device__ void count(const Found& found, unsigned place, std::uint64_t seed, std::size_t columns,
                      float* counters) {
  const float value = found.value[place];
  const SketchPlaces places = sketch_places(found.index[place], seed, columns);
#pragma unroll
  for (unsigned row = 0; row < kSketchRows; ++row) {
    atomicAdd(counters + places.counter[row], with_sign(value, places.sign[row]));
  }
}

// Appends a lane's non-zero elements to the `size` elements found, then counts 32 at a time from
// the end as long as there are 32. Returns how many remain.
__device__ unsigned find(float4 quad, std::uint32_t index, std::uint32_t nibble, Found& found,
                         unsigned size, std::uint64_t seed, std::size_t columns, float* counters) {
  if (__ballot_sync(kAllLanes, nibble != 0) == 0) return size;
  const unsigned lane = lane_of_warp();
  const unsigned own = __popc(nibble);
  unsigned sum = own;
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const unsigned before = __shfl_up_sync(kAllLanes, sum, distance);
    if (lane >= distance) sum += before;
  }
  const float values[4] = {quad.x, quad.y, quad.z, quad.w};
  unsigned to = size + sum - own;
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) {
    if ((nibble >> i & 1u) == 0) continue;
    found.value[to] = values[i];
    found.index[to] = index + i;
    ++to;
  }
  size += __shfl_sync(kAllLanes, sum, 31);
  __syncwarp();
  while (size >= 32) {
    size -= 32;
    count(found, size + lane, seed, columns, counters);
  }
  __syncwarp();  // before elements of the next row overwrite these
  return size;
}

__global__ void __launch_bounds__(kThreads)
    encode_kernel(const float* x, std::size_t elements, std::uint64_t seed, std::size_t columns,
                  float* counters, std::uint32_t* bitmap, std::size_t words) {
  __shared__ Found of_warps[kWarps];
  Found& found = of_warps[threadIdx.x / 32];
  const unsigned lane = lane_of_warp();
  unsigned size = 0;
  for (std::size_t tile = first_warp(); tile < tiles_of(elements); tile += warp_stride()) {
    const std::size_t first = tile * kTile + 4 * lane;
    float4 quads[kRows];
    load_quads(x, first, kRow, elements, (tile + 1) * kTile <= elements, quads);
    std::uint32_t nibbles = 0;
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      const float4 quad = quads[row];
      const std::uint32_t nibble = (quad.x != 0 ? 1u : 0u) | (quad.y != 0 ? 2u : 0u) |
                                   (quad.z != 0 ? 4u : 0u) | (quad.w != 0 ? 8u : 0u);
      nibbles |= nibble << 4 * row;
      size = find(quad, static_cast<std::uint32_t>(first + row * kRow), nibble, found, size, seed,
                  columns, counters);
    }
    const std::uint32_t word = transposed<8>(nibbles);
    const std::size_t at = tile * 32 + lane % 8 * 4 + lane / 8;
    if (at < words) __stcs(bitmap + at, word);
  }
  if (lane < size) count(found, lane, seed, columns, counters);
}

__global__ void __launch_bounds__(kThreads)
    estimate_kernel(const float* counters, std::size_t columns, std::uint64_t seed,
                    const std::uint32_t* bitmap, std::size_t words, std::size_t elements,
                    float* x) {
  const unsigned lane = lane_of_warp();
  for (std::size_t tile = first_warp(); tile < tiles_of(elements); tile += warp_stride()) {
    const std::size_t word_at = tile * 32 + lane;
    const std::uint32_t own = word_at < words ? __ldcs(bitmap + word_at) : 0;
#pragma unroll 1
    for (int row = 0; row < kRows; ++row) {
      const std::uint32_t nibble =
          __shfl_sync(kAllLanes, own, row * 4 + lane / 8) >> (lane % 8 * 4);
      const std::size_t at = tile * kTile + row * kRow + 4 * lane;
      float values[4] = {};
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) {
        if ((nibble >> i & 1u) == 0) continue;
        const SketchPlaces places =
            sketch_places(static_cast<std::uint32_t>(at + i), seed, columns);
        values[i] = median(with_sign(__ldg(counters + places.counter[0]), places.sign[0]),
                           with_sign(__ldg(counters + places.counter[1]), places.sign[1]),
                           with_sign(__ldg(counters + places.counter[2]), places.sign[2]));
      }
      store_quad(x, at, elements, make_float4(values[0], values[1], values[2], values[3]));
    }
  }
}

void encode(const float* x, std::size_t elements, std::uint64_t seed, std::size_t columns,
            float* counters, std::uint32_t* bitmap) {
  check_alignment(x, counters, bitmap);
  check_sketch_sizes(elements, columns);
  CHECK_CUDA(cudaMemsetAsync(counters, 0, kSketchRows * columns * sizeof *counters, work_stream()));
  if (elements == 0) return;
  encode_kernel<<<grid_of(elements, kWarps * kTile), kThreads, 0, work_stream()>>>(
      x, elements, seed, columns, counters, bitmap, bitmap_words(elements));
  CHECK_CUDA(cudaGetLastError());
}

void estimate(const float* counters, std::size_t columns, std::uint64_t seed,
              const std::uint32_t* bitmap, std::size_t elements, float* x) {
  check_alignment(counters, bitmap, x);
  check_sketch_sizes(elements, columns);
  if (elements == 0) return;
  estimate_kernel<<<grid_of(elements, kWarps * kTile), kThreads, 0, work_stream()>>>(
      counters, columns, seed, bitmap, bitmap_words(elements), elements, x);
  CHECK_CUDA(cudaGetLastError());
}

constexpr Sketch kCuda = {encode, estimate};

}  // namespace

const Sketch& cuda_sketch() {
  return kCuda;
}

}  // namespace windtunnel

// A product with a factor of few columns should be bound by memory, but the tiles of libraries are
// at least 32 columns wide, so most of their work is on padding. Here each thread holds 4 columns
// of 8 rows of a gradient in registers, read once in parallel. For each column of the factor it
// computes 32 products from one or two quads in shared memory, which is therefore no busier than
// the arithmetic. Blocks do not wait for each other, and the order of sums does not depend on that
// of threads.
#include <type_traits>

#include "kernels/device/cuda_tiles.cuh"
#include "kernels/product/thin_product.hpp"
#include "models/base/error.hpp"

namespace windtunnel {
namespace {

constexpr unsigned kRows = 8;       // per thread
constexpr unsigned kColumns = 128;  // per warp and row: 4 per lane

// kR is the number of columns to which a factor is padded. It decides how many blocks per SM have
// enough registers. Loading ahead hides memory latency, except for 8 columns, whose registers do
// not suffice: with vector loads, two blocks hide it for each other.
template <int kR>
constexpr bool kLoadsAhead = kR != 8;
template <int kR, bool kVector>
constexpr int kBlocksOfSm = kR > 8 || (kR == 8 && !kVector) ? 1 : 2;

// Rows of a factor in shared memory, at most 32 KB.
template <int kR>
constexpr unsigned kTile = kR > 8 ? 512 : 1024;

struct Matrix {
  unsigned m, n, r;
};

// 4 columns of kRows rows; zeros beyond the matrix. kVector: rows are aligned to 16 bytes and n is
// a multiple of 4. Inside the matrix there are then no branches, so that all loads can start at
// once.
template <bool kVector>
struct Patch {
  float4 quads[kRows];

  __device__ void load(const Matrix& size, const float* gradient, unsigned row, unsigned column) {
    const float* at = gradient + std::size_t{row} * size.n + column;
    if (kVector && row + kRows <= size.m && column < size.n) {
#pragma unroll
      for (unsigned i = 0; i < kRows; ++i, at += size.n) {
        quads[i] = __ldcs(reinterpret_cast<const float4*>(at));
      }
      return;
    }
#pragma unroll
    for (unsigned i = 0; i < kRows; ++i, at += size.n) {
      const unsigned end = row + i < size.m ? size.n : 0;
      quads[i] = make_float4(0, 0, 0, 0);
      if constexpr (kVector) {
        if (column < end) quads[i] = __ldcs(reinterpret_cast<const float4*>(at));
      } else {
        if (column < end) quads[i].x = at[0];
        if (column + 1 < end) quads[i].y = at[1];
        if (column + 2 < end) quads[i].z = at[2];
        if (column + 3 < end) quads[i].w = at[3];
      }
    }
  }

  __device__ void store(const Matrix& size, float* gradient, unsigned row, unsigned column) const {
    float* at = gradient + std::size_t{row} * size.n + column;
#pragma unroll
    for (unsigned i = 0; i < kRows; ++i, at += size.n) {
      const unsigned end = row + i < size.m ? size.n : 0;
      if constexpr (kVector) {
        if (column < end) __stcs(reinterpret_cast<float4*>(at), quads[i]);
      } else {
        if (column < end) at[0] = quads[i].x;
        if (column + 1 < end) at[1] = quads[i].y;
        if (column + 2 < end) at[2] = quads[i].z;
        if (column + 3 < end) at[3] = quads[i].w;
      }
    }
  }
};

// Copies kCount rows of a factor (rows x r) from `first` on, column by column, so that threads read
// adjacent values together; zeros beyond its rows and columns. Beyond the end it reads the last row
// or column instead of branching, so that all loads can start at once.
template <int kR, unsigned kCount>
__device__ void share(const float* factor, unsigned rows, unsigned r, unsigned first,
                      float4* shared) {
  auto* const columns = reinterpret_cast<float*>(shared);
  const bool vector = r == kR && reinterpret_cast<std::uintptr_t>(factor) % sizeof(float4) == 0;
#pragma unroll
  for (unsigned start = 0; start < kCount; start += kThreads) {
    const unsigned i = start + threadIdx.x;
    if (kCount % kThreads != 0 && i >= kCount) return;
    const bool inside = first + i < rows;
    const float* const row = factor + std::size_t{inside ? first + i : rows - 1} * r;
    if (kR % 4 == 0 && vector) {
#pragma unroll
      for (unsigned k = 0; k < kR; k += 4) {
        const float4 quad = *reinterpret_cast<const float4*>(row + k);
        columns[k * kCount + i] = inside ? quad.x : 0;
        columns[(k + 1) * kCount + i] = inside ? quad.y : 0;
        columns[(k + 2) * kCount + i] = inside ? quad.z : 0;
        columns[(k + 3) * kCount + i] = inside ? quad.w : 0;
      }
    } else {
#pragma unroll
      for (unsigned k = 0; k < kR; ++k) {
        const float value = row[k < r ? k : r - 1];
        columns[k * kCount + i] = inside && k < r ? value : 0;
      }
    }
  }
}

__device__ void add_product(float4& sum, float a, const float4& b) {
  sum.x += a * b.x;
  sum.y += a * b.y;
  sum.z += a * b.z;
  sum.w += a * b.w;
}

// Sums `kCount` values per lane over a warp. Each exchange halves the number of values of a lane
// while it has more than one. A lane ends with the sums from lane * kCount / 32 on; if kCount is
// below 32, several lanes have the same sum.
template <unsigned kCount, unsigned kDistance = 16>
__device__ void sum_of_warp(float* values) {
  constexpr unsigned kHeld = kCount > 1 ? kCount / 2 : 1;
  const bool upper = (lane_of_warp() & kDistance) != 0;
#pragma unroll
  for (unsigned i = 0; i < kHeld; ++i) {
    const float low = values[i];
    const float high = values[kCount > 1 ? kHeld + i : i];
    values[i] = (upper ? high : low) + __shfl_xor_sync(kAllLanes, upper ? low : high, kDistance);
  }
  if constexpr (kDistance > 1) sum_of_warp<kHeld, kDistance / 2>(values);
}

// Computes rows of P. `row_warps` warps of a block have different rows; further warps share these
// rows and take alternate groups of columns.
template <int kR, bool kVector>
__global__ void __launch_bounds__(kThreads, kBlocksOfSm<kR, kVector>)
    project_kernel(Matrix size, unsigned row_warps, const float* gradient, const float* q,
                   float* p) {
  constexpr unsigned kSums = kRows * kR;
  __shared__ float4 shared[kR * kTile<kR> / 4];
  __shared__ float sums[kWarps][kSums];
  gradient += std::size_t{blockIdx.y} * size.m * size.n;
  q += std::size_t{blockIdx.y} * size.n * size.r;
  p += std::size_t{blockIdx.y} * size.m * size.r;
  const unsigned warp = threadIdx.x / 32;
  const unsigned lane = lane_of_warp();
  const unsigned row = (blockIdx.x * row_warps + warp % row_warps) * kRows;
  const unsigned column_warps = kWarps / row_warps;
  unsigned first = warp / row_warps * kColumns;  // first column of the warp
  float sum[kSums] = {};
  Patch<kVector> now;
  if constexpr (kLoadsAhead<kR>) now.load(size, gradient, row, first + 4 * lane);
  for (unsigned tile = 0; tile < size.n; tile += kTile<kR>) {
    __syncthreads();
    share<kR, kTile<kR>>(q, size.n, size.r, tile, shared);
    __syncthreads();
    const unsigned end = size.n < tile + kTile<kR> ? size.n : tile + kTile<kR>;
#pragma unroll 1
    for (; first < end; first += column_warps * kColumns) {
      Patch<kVector> next;
      if constexpr (kLoadsAhead<kR>) {
        next.load(size, gradient, row, first + column_warps * kColumns + 4 * lane);
      } else {
        now.load(size, gradient, row, first + 4 * lane);
      }
#pragma unroll
      for (unsigned k = 0; k < kR; ++k) {
        const float4 factor = shared[(k * kTile<kR> + first - tile) / 4 + lane];
#pragma unroll
        for (unsigned i = 0; i < kRows; ++i) {
          float& to = sum[i * kR + k];
          to += now.quads[i].x * factor.x;
          to += now.quads[i].y * factor.y;
          to += now.quads[i].z * factor.z;
          to += now.quads[i].w * factor.w;
        }
      }
      if constexpr (kLoadsAhead<kR>) now = next;
    }
  }
  sum_of_warp<kSums>(sum);
  constexpr unsigned kHeld = kSums < 32 ? 1 : kSums / 32;
#pragma unroll
  for (unsigned i = 0; i < kHeld; ++i) sums[warp][lane * kSums / 32 + i] = sum[i];
  __syncthreads();
  for (unsigned i = threadIdx.x; i < row_warps * kRows * size.r; i += kThreads) {
    const unsigned at = i / size.r;  // row within the block
    const std::size_t to = std::size_t{blockIdx.x} * row_warps * kRows + at;
    float all = 0;
    for (unsigned part = 0; part < column_warps; ++part) {
      all += sums[part * row_warps + at / kRows][at % kRows * kR + i % size.r];
    }
    if (to < size.m) p[to * size.r + i % size.r] = all;
  }
}

// Computes rows of Q. `lanes` neighbouring threads have 4 columns of the gradient each; the groups
// of `lanes` threads in a block have different rows.
template <int kR, bool kVector>
__global__ void __launch_bounds__(kThreads, kBlocksOfSm<kR, kVector>)
    back_kernel(Matrix size, unsigned lanes, const float* gradient, const float* p, float* q) {
  __shared__ float4 shared[kR * kTile<kR> / 4];
  constexpr unsigned kSums = kR * kTile<kR> / 4 / kThreads;  // per thread, as many as fit there
  gradient += std::size_t{blockIdx.y} * size.m * size.n;
  q += std::size_t{blockIdx.y} * size.n * size.r;
  p += std::size_t{blockIdx.y} * size.m * size.r;
  const unsigned groups = kThreads / lanes;
  const unsigned column = (blockIdx.x * lanes + threadIdx.x % lanes) * 4;
  unsigned row = threadIdx.x / lanes * kRows;
  float4 sum[kR] = {};
  Patch<kVector> now;
  if constexpr (kLoadsAhead<kR>) now.load(size, gradient, row, column);
  for (unsigned tile = 0; tile < size.m; tile += kTile<kR>) {
    __syncthreads();
    share<kR, kTile<kR>>(p, size.m, size.r, tile, shared);
    __syncthreads();
    const unsigned end = size.m < tile + kTile<kR> ? size.m : tile + kTile<kR>;
#pragma unroll 1
    for (; row < end; row += groups * kRows) {
      Patch<kVector> next;
      if constexpr (kLoadsAhead<kR>) {
        next.load(size, gradient, row + groups * kRows, column);
      } else {
        now.load(size, gradient, row, column);
      }
#pragma unroll
      for (unsigned k = 0; k < kR; ++k) {
        const float4* const factor = shared + (k * kTile<kR> + row - tile) / 4;
        const float4 low = factor[0];
        const float4 high = factor[1];
        add_product(sum[k], low.x, now.quads[0]);
        add_product(sum[k], low.y, now.quads[1]);
        add_product(sum[k], low.z, now.quads[2]);
        add_product(sum[k], low.w, now.quads[3]);
        add_product(sum[k], high.x, now.quads[4]);
        add_product(sum[k], high.y, now.quads[5]);
        add_product(sum[k], high.z, now.quads[6]);
        add_product(sum[k], high.w, now.quads[7]);
      }
      if constexpr (kLoadsAhead<kR>) now = next;
    }
  }
  const auto* const parts = reinterpret_cast<const float*>(shared);
  const unsigned columns = 4 * lanes;
#pragma unroll
  for (unsigned first = 0; first < kR; first += kSums) {
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kSums; ++k) shared[k * kThreads + threadIdx.x] = sum[first + k];
    __syncthreads();
    for (unsigned i = threadIdx.x; i < kSums * columns; i += kThreads) {
      const unsigned k = i / columns;
      const std::size_t to = std::size_t{blockIdx.x} * columns + i % columns;
      float all = 0;
#pragma unroll 4
      for (unsigned group = 0; group < groups; ++group) {
        all += parts[k * kThreads * 4 + group * columns + i % columns];
      }
      if (to < size.n && first + k < size.r) q[to * size.r + first + k] = all;
    }
  }
}

// A block computes kWarps * kRows rows of kColumns columns.
template <int kR, bool kVector>
__global__ void __launch_bounds__(kThreads)
    subtract_kernel(Matrix size, const float* p, const float* q, float* gradient) {
  constexpr unsigned kBlockRows = kWarps * kRows;
  __shared__ float4 shared_p[kR * kBlockRows / 4];
  __shared__ float4 shared_q[kR * kColumns / 4];
  gradient += std::size_t{blockIdx.y} * size.m * size.n;
  q += std::size_t{blockIdx.y} * size.n * size.r;
  p += std::size_t{blockIdx.y} * size.m * size.r;
  const unsigned strips = (size.n + kColumns - 1) / kColumns;
  const unsigned top = blockIdx.x / strips * kBlockRows;
  const unsigned left = blockIdx.x % strips * kColumns;
  const unsigned warp = threadIdx.x / 32;
  const unsigned lane = lane_of_warp();
  Patch<kVector> patch;
  patch.load(size, gradient, top + warp * kRows, left + 4 * lane);
  share<kR, kBlockRows>(p, size.m, size.r, top, shared_p);
  share<kR, kColumns>(q, size.n, size.r, left, shared_q);
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < kR; ++k) {
    const float4 factor = shared_q[k * kColumns / 4 + lane];
    const float4 low = shared_p[(k * kBlockRows + warp * kRows) / 4];
    const float4 high = shared_p[(k * kBlockRows + warp * kRows) / 4 + 1];
    add_product(patch.quads[0], -low.x, factor);
    add_product(patch.quads[1], -low.y, factor);
    add_product(patch.quads[2], -low.z, factor);
    add_product(patch.quads[3], -low.w, factor);
    add_product(patch.quads[4], -high.x, factor);
    add_product(patch.quads[5], -high.y, factor);
    add_product(patch.quads[6], -high.z, factor);
    add_product(patch.quads[7], -high.w, factor);
  }
  patch.store(size, gradient, top + warp * kRows, left + 4 * lane);
}

unsigned quotient_up(unsigned pieces, unsigned of_one) {
  return (pieces + of_one - 1) / of_one;
}

// How many pieces of `size` rows or columns a block processes. Each block also reads the whole
// factor: large blocks read less in total, small ones fill the device better.
unsigned pieces_of_block(const LowRankShape& shape, unsigned pieces, unsigned size, unsigned least,
                         unsigned most) {
  constexpr unsigned kMultiprocessors = 132;
  const auto time = [&](unsigned chosen) {
    const std::size_t blocks = static_cast<std::size_t>(shape.batch) * quotient_up(pieces, chosen);
    const std::size_t turns = (blocks + kMultiprocessors - 1) / kMultiprocessors;
    return turns * (chosen * size + static_cast<unsigned>(shape.r));
  };
  unsigned best = most;
  for (unsigned other = most / 2; other >= least; other /= 2) {
    if (time(other) < time(best)) best = other;
  }
  return best;
}

// Calls start(columns, vector) with the suitable kR and kVector as types.
template <int kR = 1, typename Start>
void with_form(const LowRankShape& shape, const float* gradient, const Start& start) {
  CHECK(shape.r <= kMaxThinRank && shape.batch <= kMaxBatch, "{} matrices of rank {}", shape.batch,
        shape.r);
  if constexpr (kR < kMaxThinRank) {
    if (shape.r > kR) return with_form<2 * kR>(shape, gradient, start);
  }
  const std::integral_constant<int, kR> columns;
  if (shape.n % 4 == 0 && reinterpret_cast<std::uintptr_t>(gradient) % sizeof(float4) == 0) {
    start(columns, std::true_type());
  } else {
    start(columns, std::false_type());
  }
  CHECK_CUDA(cudaGetLastError());
}

Matrix size_of(const LowRankShape& shape) {
  return {static_cast<unsigned>(shape.m), static_cast<unsigned>(shape.n),
          static_cast<unsigned>(shape.r)};
}

}  // namespace

void thin_project(const LowRankShape& shape, const float* gradient, const float* q, float* p) {
  with_form(shape, gradient, [&](auto columns, auto vector) {
    constexpr int kR = columns;
    constexpr bool kVector = vector;
    const Matrix size = size_of(shape);
    const unsigned patches = quotient_up(size.m, kRows);
    // A block's warps must not have more columns than a tile.
    const unsigned row_warps =
        pieces_of_block(shape, patches, kRows, kWarps * kColumns / kTile<kR>, kWarps);
    const dim3 blocks(quotient_up(patches, row_warps), static_cast<unsigned>(shape.batch));
    project_kernel<kR, kVector>
        <<<blocks, kThreads, 0, work_stream()>>>(size, row_warps, gradient, q, p);
  });
}

void thin_back_project(const LowRankShape& shape, const float* gradient, const float* p, float* q) {
  with_form(shape, gradient, [&](auto columns, auto vector) {
    constexpr int kR = columns;
    constexpr bool kVector = vector;
    const Matrix size = size_of(shape);
    const unsigned quads = quotient_up(size.n, 4);
    const unsigned lanes = pieces_of_block(shape, quads, 4, 4, 32);
    const dim3 blocks(quotient_up(quads, lanes), static_cast<unsigned>(shape.batch));
    back_kernel<kR, kVector><<<blocks, kThreads, 0, work_stream()>>>(size, lanes, gradient, p, q);
  });
}

void thin_subtract(const LowRankShape& shape, const float* p, const float* q, float* gradient) {
  with_form(shape, gradient, [&](auto columns, auto vector) {
    constexpr int kR = columns;
    constexpr bool kVector = vector;
    const Matrix size = size_of(shape);
    const dim3 blocks(quotient_up(size.m, kWarps * kRows) * quotient_up(size.n, kColumns),
                      static_cast<unsigned>(shape.batch));
    subtract_kernel<kR, kVector><<<blocks, kThreads, 0, work_stream()>>>(size, p, q, gradient);
  });
}

}  // namespace windtunnel

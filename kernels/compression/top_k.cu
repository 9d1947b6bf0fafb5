#include "kernels/compression/top_k.hpp"
#include "kernels/compression/top_k_words.cuh"
#include "kernels/device/alignment.hpp"
#include "kernels/device/cuda_entries.hpp"
#include "kernels/device/cuda_tiles.cuh"

namespace windtunnel {
namespace {

// The lowest bit of each digit of a key, from the highest digit on. The first digit has 12 bits,
// for which the bins of a gradient are narrow; later digits divide the elements of the boundary's
// bin.
constexpr int kLevels = 6;
constexpr int kShifts[kLevels] = {kKeyBits - kDigitBits, 41, 32, 21, 10, 0};

constexpr int kQuads = 4;  // per thread and tile
constexpr std::size_t kTile = std::size_t{kThreads} * kQuads * 4;
constexpr unsigned kFullGrid = 132 * 8;  // one wave on the largest devices
constexpr std::size_t kListShare = 16;   // elements per place in the list

// State that the kernels of a selection share.
struct Selection {
  std::uint64_t lower, upper;  // keys >= upper are selected; those in [lower, upper) are undecided
  std::uint32_t wanted;        // still to be selected among the undecided
  std::uint32_t undecided;
  int listed_at;           // the level whose boundary filled the list; kLevels: not filled yet
  std::uint32_t selected;  // written so far
  std::uint32_t listed;
  std::uint32_t blocks_done;  // blocks that have added to the level's histogram
  std::uint32_t counts[kDigitBins];
};

__global__ void start_kernel(Selection* selection, std::uint32_t elements, std::uint32_t k) {
  for (unsigned bin = threadIdx.x; bin < kDigitBins; bin += kThreads) selection->counts[bin] = 0;
  if (threadIdx.x != 0) return;
  selection->lower = 0;
  selection->upper = std::uint64_t{1} << kKeyBits;
  selection->wanted = k;
  selection->undecided = elements;
  selection->listed_at = kLevels;
  selection->selected = selection->listed = selection->blocks_done = 0;
}

// Finds the boundary's digit: each thread sums 16 bins, and the thread whose bins contain the
// wanted-th element from above continues. Digit 0, which most elements have, is not counted; its
// count is the rest.
__device__ void decide(Selection* selection, int level, int shift, std::uint32_t capacity) {
  constexpr unsigned kBins = kDigitBins / kThreads;
  __shared__ std::uint32_t sums[kThreads];
  const unsigned thread = threadIdx.x;
  std::uint32_t counts[kBins];
  std::uint32_t own = 0;
#pragma unroll
  for (unsigned i = 0; i < kBins; ++i) {
    counts[i] = __ldcg(selection->counts + thread * kBins + i);
    own += counts[i];
    selection->counts[thread * kBins + i] = 0;  // for the next level
  }
  sums[thread] = own;
  __syncthreads();
  // Sums over this thread and those above.
  for (unsigned distance = 1; distance < kThreads; distance *= 2) {
    const std::uint32_t more = thread + distance < kThreads ? sums[thread + distance] : 0;
    __syncthreads();
    sums[thread] += more;
    __syncthreads();
  }
  const std::uint32_t wanted = selection->wanted;
  const std::uint32_t undecided = selection->undecided;
  const std::uint64_t lower = selection->lower;
  __syncthreads();  // all threads have read before one of them writes
  std::uint32_t beyond = sums[thread] - own;
  if (thread == 0) {
    counts[0] = undecided - sums[0];
    own += counts[0];
  }
  if (beyond >= wanted || beyond + own < wanted) return;
#pragma unroll
  for (unsigned i = kBins; i-- > 0;) {
    if (beyond < wanted && beyond + counts[i] >= wanted) {
      const std::uint64_t digit = thread * kBins + i;
      const std::uint64_t first = lower + (digit << shift);
      const bool all = beyond + counts[i] == wanted;
      selection->lower = first;
      selection->upper = all ? first : first + (std::uint64_t{1} << shift);
      selection->wanted = all ? 0 : wanted - beyond;
      selection->undecided = all ? 0 : counts[i];
      if (selection->listed_at == kLevels && (all || counts[i] <= capacity)) {
        selection->listed_at = level;
      }
    }
    beyond += counts[i];
  }
  selection->blocks_done = 0;
}

// True in the last block to arrive, after all others have added their counts.
__device__ bool is_last_block(Selection* selection) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(&selection->blocks_done, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  return last;
}

// Makes the first level's histogram of x. Neighbouring threads use different copies of the bins, so
// that fewer collide.
__global__ void __launch_bounds__(kThreads)
    first_histogram_kernel(const float* x, std::size_t elements, Selection* selection,
                           std::uint32_t capacity) {
  constexpr unsigned kCopies = 2;
  __shared__ std::uint32_t bins[kDigitBins * kCopies];
  for (unsigned i = threadIdx.x; i < kDigitBins * kCopies; i += kThreads) bins[i] = 0;
  __syncthreads();
  const unsigned copy = threadIdx.x % kCopies;
  const auto count = [&](float value) {
    const std::uint32_t digit = magnitude_bits(value) >> (31 - kDigitBits);
    if (digit != 0) atomicAdd(bins + digit * kCopies + copy, 1u);
  };
  const std::size_t stride = gridDim.x * kTile;
  for (std::size_t tile = blockIdx.x * kTile; tile < elements; tile += stride) {
    const bool whole = tile + kTile <= elements;
    float4 quads[kQuads];
    load_quads(x, tile + 4 * threadIdx.x, kThreads * 4, elements, whole, quads);
#pragma unroll
    for (int row = 0; row < kQuads; ++row) {
      count(quads[row].x);  // zeros beyond the end are not counted either
      count(quads[row].y);
      count(quads[row].z);
      count(quads[row].w);
    }
  }
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < kDigitBins; bin += kThreads) {
    const std::uint32_t sum = bins[bin * kCopies] + bins[bin * kCopies + 1];
    if (sum > 0) atomicAdd(selection->counts + bin, sum);
  }
  if (is_last_block(selection)) decide(selection, 0, kKeyBits - kDigitBits, capacity);
}

// Makes a later level's histogram, of the list or, while that is not filled, of the whole array.
__global__ void __launch_bounds__(kThreads)
    histogram_kernel(const float* x, std::size_t elements, const std::uint64_t* list,
                     Selection* selection, int level, int shift, std::uint32_t capacity) {
  if (selection->wanted == 0) return;
  __shared__ std::uint32_t bins[kDigitBins];
  for (unsigned i = threadIdx.x; i < kDigitBins; i += kThreads) bins[i] = 0;
  __syncthreads();
  const bool listed = selection->listed_at < level;
  const std::size_t size = listed ? selection->listed : elements;
  const std::uint64_t lower = selection->lower, upper = selection->upper;
  const std::size_t stride = std::size_t{gridDim.x} * kThreads;
  for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < size; i += stride) {
    const std::uint64_t key = listed ? list[i] : selection_key(x[i], static_cast<std::uint32_t>(i));
    if (key < lower || key >= upper) continue;
    const auto digit = static_cast<std::uint32_t>((key - lower) >> shift);
    if (digit != 0) atomicAdd(bins + digit, 1u);
  }
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < kDigitBins; bin += kThreads) {
    if (bins[bin] > 0) atomicAdd(selection->counts + bin, bins[bin]);
  }
  if (is_last_block(selection)) decide(selection, level, shift, capacity);
}

struct Places {
  std::uint32_t first, second;
};

// Where each thread writes its elements of two kinds: after those of earlier threads in the block.
// The block's elements begin at the counts *first and *second.
__device__ Places places_of(std::uint32_t firsts, std::uint32_t seconds, std::uint32_t* first,
                            std::uint32_t* second) {
  __shared__ std::uint32_t of_warps[kWarps];
  __shared__ Places base;
  // A block has at most kTile < 2^16 elements of each kind, so one word counts both kinds.
  const std::uint32_t own = firsts | seconds << 16;
  std::uint32_t sum = own;
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const std::uint32_t before = __shfl_up_sync(kAllLanes, sum, distance);
    if (lane_of_warp() >= distance) sum += before;
  }
  __syncthreads();  // the values of the tile before have been read
  if (lane_of_warp() == 31) of_warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    std::uint32_t all = 0;
    for (int warp = 0; warp < kWarps; ++warp) {
      const std::uint32_t next = all + of_warps[warp];
      of_warps[warp] = all;
      all = next;
    }
    if ((all & 0xffffu) > 0) base.first = atomicAdd(first, all & 0xffffu);
    if (all >> 16 > 0) base.second = atomicAdd(second, all >> 16);
  }
  __syncthreads();
  const std::uint32_t before = of_warps[threadIdx.x / 32] + sum - own;
  return {base.first + (before & 0xffffu), base.second + (before >> 16)};
}

// A magnitude is the upper half of a 64-bit key. It is sufficient as long as the lower halves of
// the bounds are zero.
template <typename Key>
__device__ Key key_of(float value, std::uint32_t index) {
  if constexpr (sizeof(Key) == 4) {
    return magnitude_bits(value);
  } else {
    return selection_key(value, index);
  }
}

// Writes elements with keys >= upper, with their values, and puts keys in [lower, upper) into the
// list.
template <typename Key>
__device__ void compact(const float* x, std::size_t elements, Key lower, Key upper,
                        std::uint32_t capacity, std::uint32_t* indices, float* values,
                        std::uint64_t* list, std::uint32_t* selected, std::uint32_t* listed) {
  const std::size_t stride = gridDim.x * kTile;
  for (std::size_t tile = blockIdx.x * kTile; tile < elements; tile += stride) {
    const bool whole = tile + kTile <= elements;
    float4 quads[kQuads];
    load_quads(x, tile + 4 * threadIdx.x, kThreads * 4, elements, whole, quads);
    const auto index_of = [&](int i) {
      return static_cast<std::uint32_t>(tile + (i / 4 * kThreads + threadIdx.x) * 4 + i % 4);
    };
    std::uint32_t out = 0, kept = 0;  // a bit for each element
    const auto sort_in = [&](float value, int i) {
      const Key key = key_of<Key>(value, index_of(i));
      out |= (key >= upper ? 1u : 0u) << i;
      kept |= (key >= lower ? 1u : 0u) << i;
    };
#pragma unroll
    for (int row = 0; row < kQuads; ++row) {
      sort_in(quads[row].x, 4 * row);
      sort_in(quads[row].y, 4 * row + 1);
      sort_in(quads[row].z, 4 * row + 2);
      sort_in(quads[row].w, 4 * row + 3);
    }
    if (!whole) {
#pragma unroll 1
      for (int i = 0; i < kQuads * 4; ++i) {
        if (index_of(i) < elements) continue;
        out &= ~(1u << i);
        kept &= ~(1u << i);
      }
    }
    std::uint32_t undecided = kept & ~out;
    Places to = places_of(__popc(out), __popc(undecided), selected, listed);
    // Selected elements are few, so reading them again is cheaper than a test for each element.
    for (; out != 0; out &= out - 1, ++to.first) {
      if (to.first >= capacity) break;
      const std::uint32_t index = index_of(__ffs(static_cast<int>(out)) - 1);
      indices[to.first] = index;
      values[to.first] = x[index];
    }
    for (; undecided != 0; undecided &= undecided - 1, ++to.second) {
      const std::uint32_t index = index_of(__ffs(static_cast<int>(undecided)) - 1);
      list[to.second] = selection_key(x[index], index);
    }
  }
}

template <typename Key>
__global__ void __launch_bounds__(kThreads, sizeof(Key) == 4 ? 8 : 6)
    list_kernel(const float* x, std::size_t elements, Selection* selection, int level,
                std::uint32_t k, std::uint32_t* indices, float* values, std::uint64_t* list) {
  if (selection->listed_at != level) return;
  constexpr int kShift = 64 - 8 * static_cast<int>(sizeof(Key));
  compact(x, elements, static_cast<Key>(selection->lower >> kShift),
          static_cast<Key>(selection->upper >> kShift), k, indices, values, list,
          &selection->selected, &selection->listed);
}

// Writes the selected elements of the list. Keys are distinct, so after the last digit nothing is
// undecided.
__global__ void __launch_bounds__(kThreads)
    finish_kernel(const float* x, const std::uint64_t* list, Selection* selection,
                  std::uint32_t* indices, float* values) {
  const std::uint32_t size = selection->listed;
  const std::uint64_t lower = selection->lower;
  const unsigned stride = gridDim.x * kThreads;
  for (std::uint32_t first = blockIdx.x * kThreads; first < size; first += stride) {
    const std::uint32_t i = first + threadIdx.x;
    const std::uint64_t key = i < size ? list[i] : 0;
    const bool is_in = i < size && key >= lower;
    const std::uint32_t to =
        places_of(is_in ? 1 : 0, 0, &selection->selected, &selection->listed).first;
    if (!is_in) continue;
    indices[to] = index_of_key(key);
    values[to] = x[index_of_key(key)];
  }
}

__global__ void __launch_bounds__(kThreads, 8)
    above_kernel(const float* x, std::size_t elements, std::uint32_t bound, std::uint32_t capacity,
                 std::uint32_t* indices, float* values, std::uint32_t* count) {
  compact(x, elements, bound, bound, capacity, indices, values, nullptr, count, count);
}

enum class Move { random, gather, scatter, scatter_add };

template <Move kMove>
__global__ void __launch_bounds__(kThreads)
    move_kernel(float* x, std::size_t elements, std::size_t k, std::uint64_t seed,
                std::uint32_t* indices, float* values) {
  const std::size_t stride = std::size_t{gridDim.x} * kThreads;
  for (std::size_t j = std::size_t{blockIdx.x} * kThreads + threadIdx.x; j < k; j += stride) {
    if constexpr (kMove == Move::random) indices[j] = random_index(j, elements, k, seed);
    const std::uint32_t index = indices[j];
    if constexpr (kMove == Move::random || kMove == Move::gather) values[j] = __ldg(x + index);
    if constexpr (kMove == Move::scatter) x[index] = values[j];
    if constexpr (kMove == Move::scatter_add) x[index] += values[j];
  }
}

template <Move kMove>
void move(const float* x, std::size_t elements, std::size_t k, std::uint64_t seed,
          const std::uint32_t* indices, const float* values) {
  if (k == 0) return;
  move_kernel<kMove><<<grid_of(k, kThreads), kThreads, 0, work_stream()>>>(
      const_cast<float*>(x), elements, k, seed, const_cast<std::uint32_t*>(indices),
      const_cast<float*>(values));
  CHECK_CUDA(cudaGetLastError());
}

void check_elements(std::size_t elements) {
  CHECK(elements < (std::size_t{1} << 32), "indices of {} elements", elements);
}

std::size_t list_capacity(std::size_t elements) {
  return elements / kListShare + kDigitBins;
}

std::size_t workspace_bytes(std::size_t elements) {
  return sizeof(Selection) + list_capacity(elements) * sizeof(std::uint64_t);
}

void select(const float* x, std::size_t elements, std::size_t k, std::byte* workspace,
            std::uint32_t* indices, float* values) {
  check_alignment(x, workspace);
  check_elements(elements);
  CHECK(k <= elements, "{} of {} elements", k, elements);
  if (k == 0) return;
  auto* const selection = reinterpret_cast<Selection*>(workspace);
  auto* const list = reinterpret_cast<std::uint64_t*>(workspace + sizeof(Selection));
  const auto capacity = static_cast<std::uint32_t>(list_capacity(elements));
  const auto wanted = static_cast<std::uint32_t>(k);
  const unsigned grid = grid_of(elements, kTile);
  const unsigned list_grid = grid_of(capacity, 4 * kThreads);
  const cudaStream_t stream = work_stream();
  start_kernel<<<1, kThreads, 0, stream>>>(selection, static_cast<std::uint32_t>(elements), wanted);
  // Few blocks per SM, because each clears and adds up all bins.
  first_histogram_kernel<<<std::min(grid, 132u * 6), kThreads, 0, stream>>>(x, elements, selection,
                                                                            capacity);
  for (int level = 0; level < kLevels; ++level) {
    if (level > 0) {
      histogram_kernel<<<std::min(list_grid, 132u * 6), kThreads, 0, stream>>>(
          x, elements, list, selection, level, kShifts[level], capacity);
    }
    const auto fill =
        kShifts[level] >= 32 ? list_kernel<std::uint32_t> : list_kernel<std::uint64_t>;
    // Usually only level 0 has work to do.
    const unsigned list_blocks = level == 0 ? grid : std::min(grid, kFullGrid);
    fill<<<list_blocks, kThreads, 0, stream>>>(x, elements, selection, level, wanted, indices,
                                               values, list);
  }
  finish_kernel<<<std::min(list_grid, kFullGrid), kThreads, 0, stream>>>(x, list, selection,
                                                                         indices, values);
  CHECK_CUDA(cudaGetLastError());
}

void above(const float* x, std::size_t elements, float threshold, std::size_t capacity,
           std::uint32_t* indices, float* values, std::uint32_t* count) {
  check_alignment(x);
  check_elements(elements);
  CHECK(threshold >= 0, "a threshold of {}", threshold);
  CHECK_CUDA(cudaMemsetAsync(count, 0, sizeof *count, work_stream()));
  if (elements == 0) return;
  const auto places = static_cast<std::uint32_t>(std::min(capacity, elements));
  above_kernel<<<grid_of(elements, kTile), kThreads, 0, work_stream()>>>(
      x, elements, magnitude_bits(threshold), places, indices, values, count);
  CHECK_CUDA(cudaGetLastError());
}

void random(const float* x, std::size_t elements, std::size_t k, std::uint64_t seed,
            std::uint32_t* indices, float* values) {
  check_elements(elements);
  CHECK(k >= 1 && k <= elements, "{} of {} elements", k, elements);
  move<Move::random>(x, elements, k, seed, indices, values);
}

void gather(const float* x, const std::uint32_t* indices, std::size_t k, float* values) {
  move<Move::gather>(x, 0, k, 0, indices, values);
}

void scatter(const std::uint32_t* indices, const float* values, std::size_t k, float* x) {
  move<Move::scatter>(x, 0, k, 0, indices, values);
}

void scatter_add(const std::uint32_t* indices, const float* values, std::size_t k, float* x) {
  move<Move::scatter_add>(x, 0, k, 0, indices, values);
}

constexpr TopK kCuda = {workspace_bytes, select, above, random, gather, scatter, scatter_add};

}  // namespace

const TopK& cuda_top_k() {
  return kCuda;
}

}  // namespace windtunnel

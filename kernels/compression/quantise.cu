#include "kernels/compression/quantise.hpp"
#include "kernels/compression/quantise_words.cuh"
#include "kernels/device/alignment.hpp"
#include "kernels/device/cuda_entries.hpp"
#include "kernels/device/cuda_tiles.cuh"

namespace windtunnel {
namespace {

constexpr std::size_t kTile = 256;  // elements per warp: two quads per lane, 128 elements apart
constexpr std::size_t kHalf = kTile / 2;
constexpr std::size_t kInt8Block = 256;

template <QuantisedForm kForm>
constexpr bool kBlockIsTile = quantised_block_elements(kForm) == kTile;

// This is the maximum over kLanes neighbouring lanes.
template <unsigned kLanes>
__device__ std::uint32_t largest_of(std::uint32_t bits) {
#pragma unroll
  for (unsigned distance = kLanes / 2; distance > 0; distance /= 2) {
    bits = max(bits, __shfl_xor_sync(kAllLanes, bits, distance));
  }
  return bits;
}

__device__ std::uint32_t largest_of(float4 quad) {
  return max(max(magnitude_bits(quad.x), magnitude_bits(quad.y)),
             max(magnitude_bits(quad.z), magnitude_bits(quad.w)));
}

// Four codes in 16 or 32 bits.
template <QuantisedForm kForm>
__device__ std::uint32_t codes_of(float4 quad, const BlockScale& scale) {
  using C = Codec<kForm>;
  const std::uint32_t codes = C::code(quad.x * scale.inverse) |
                              C::code(quad.y * scale.inverse) << C::kBits |
                              C::code(quad.z * scale.inverse) << 2 * C::kBits |
                              C::code(quad.w * scale.inverse) << 3 * C::kBits;
  return scale.finite ? codes : 0;
}

template <QuantisedForm kForm>
__device__ float4 quad_of(std::uint32_t codes, float scale) {
  using C = Codec<kForm>;
  return make_float4(scaled_value(C::value(codes), scale),
                     scaled_value(C::value(codes >> C::kBits), scale),
                     scaled_value(C::value(codes >> 2 * C::kBits), scale),
                     scaled_value(C::value(codes >> 3 * C::kBits), scale));
}

// The codes of four elements.
template <QuantisedForm kForm>
struct QuadCodes {
  using Word = std::uint32_t;
};
template <>
struct QuadCodes<QuantisedForm::int4> {
  using Word = std::uint16_t;
};

// This is the block of a lane's quad, in the first or second half of a tile.
template <QuantisedForm kForm>
__device__ std::size_t block_of(std::size_t tile, unsigned half) {
  return kBlockIsTile<kForm> ? tile : tile * 4 + half * 2 + lane_of_warp() / 16;
}

template <QuantisedForm kForm>
__global__ void __launch_bounds__(kThreads)
    encode_kernel(const float* x, std::size_t elements, std::size_t blocks, std::uint8_t* codes,
                  float* scales) {
  using Word = typename QuadCodes<kForm>::Word;
  const std::size_t tiles = (elements + kTile - 1) / kTile;
  const unsigned lane = lane_of_warp();
  for (std::size_t tile = first_warp(); tile < tiles; tile += warp_stride()) {
    const std::size_t at = tile * kTile + 4 * lane;
    float4 quads[2];
    load_quads(x, at, kHalf, elements, (tile + 1) * kTile <= elements, quads);
    std::uint32_t largest[2] = {largest_of(quads[0]), largest_of(quads[1])};
    if constexpr (kBlockIsTile<kForm>) {
      largest[0] = largest[1] = __reduce_max_sync(kAllLanes, max(largest[0], largest[1]));
    } else {
      largest[0] = largest_of<16>(largest[0]);
      largest[1] = largest_of<16>(largest[1]);
    }
#pragma unroll
    for (unsigned half = 0; half < 2; ++half) {
      const std::size_t block = block_of<kForm>(tile, half);
      if (block >= blocks) continue;  // the codes end with the last block
      const BlockScale scale = block_scale(largest[half], Codec<kForm>::kLargest);
      const bool writes = kBlockIsTile<kForm> ? lane == 0 && half == 0 : lane % 16 == 0;
      if (writes) scales[block] = scale.scale;
      __stcs(reinterpret_cast<Word*>(codes) + (at + half * kHalf) / 4,
             static_cast<Word>(codes_of<kForm>(quads[half], scale)));
    }
  }
}

template <QuantisedForm kForm>
__global__ void __launch_bounds__(kThreads)
    decode_kernel(const std::uint8_t* codes, const float* scales, std::size_t elements,
                  std::size_t blocks, float* x) {
  using Word = typename QuadCodes<kForm>::Word;
  const std::size_t tiles = (elements + kTile - 1) / kTile;
  for (std::size_t tile = first_warp(); tile < tiles; tile += warp_stride()) {
    const std::size_t at = tile * kTile + 4 * lane_of_warp();
    Word words[2] = {};
    float scale[2] = {};
#pragma unroll
    // Both loads come before the stores, because a load cannot overtake a store.
    for (unsigned half = 0; half < 2; ++half) {
      const std::size_t block = block_of<kForm>(tile, half);
      if (block >= blocks) continue;  // the codes end with the last block
      words[half] = __ldcs(reinterpret_cast<const Word*>(codes) + (at + half * kHalf) / 4);
      scale[half] = __ldg(scales + block);
    }
#pragma unroll
    for (unsigned half = 0; half < 2; ++half) {
      store_quad(x, at + half * kHalf, elements, quad_of<kForm>(words[half], scale[half]));
    }
  }
}

__device__ void add_codes(std::uint32_t codes, float scale, float4& sum) {
  sum.x += int8_value<0>(codes) * scale;
  sum.y += int8_value<1>(codes) * scale;
  sum.z += int8_value<2>(codes) * scale;
  sum.w += int8_value<3>(codes) * scale;
}

// Half a warp processes a block; each lane has 16 neighbouring elements.
__global__ void __launch_bounds__(kThreads)
    requantise_kernel(const uint4* codes, const float* scales, int parts, std::size_t blocks,
                      uint4* sum_codes, float* sum_scales) {
  constexpr std::size_t kLanes = kInt8Block / sizeof(uint4);
  const std::size_t part_vectors = blocks * kLanes;
  // Steps by whole warps, because lanes exchange words.
  for (std::size_t first = 2 * first_warp(); first < blocks; first += 2 * warp_stride()) {
    const std::size_t block = first + lane_of_warp() / kLanes;
    const bool inside = block < blocks;
    const std::size_t at = block * kLanes + lane_of_warp() % kLanes;
    float4 sums[4] = {};
    if (inside) {
#pragma unroll 4
      for (int part = 0; part < parts; ++part) {
        const uint4 words = __ldcs(codes + part * part_vectors + at);
        const float scale = __ldg(scales + part * blocks + block);
        add_codes(words.x, scale, sums[0]);
        add_codes(words.y, scale, sums[1]);
        add_codes(words.z, scale, sums[2]);
        add_codes(words.w, scale, sums[3]);
      }
    }
    const std::uint32_t largest =
        largest_of<kLanes>(max(max(largest_of(sums[0]), largest_of(sums[1])),
                               max(largest_of(sums[2]), largest_of(sums[3]))));
    if (!inside) continue;
    constexpr QuantisedForm kForm = QuantisedForm::int8;
    const BlockScale scale = block_scale(largest, Codec<kForm>::kLargest);
    if (at % kLanes == 0) sum_scales[block] = scale.scale;
    __stcs(sum_codes + at,
           make_uint4(codes_of<kForm>(sums[0], scale), codes_of<kForm>(sums[1], scale),
                      codes_of<kForm>(sums[2], scale), codes_of<kForm>(sums[3], scale)));
  }
}

template <QuantisedForm kForm>
void encode_form(const float* x, std::size_t elements, std::uint8_t* codes, float* scales) {
  encode_kernel<kForm><<<grid_of(elements, kWarps * kTile), kThreads, 0, work_stream()>>>(
      x, elements, quantised_blocks(kForm, elements), codes, scales);
}

template <QuantisedForm kForm>
void decode_form(const std::uint8_t* codes, const float* scales, std::size_t elements, float* x) {
  decode_kernel<kForm><<<grid_of(elements, kWarps * kTile), kThreads, 0, work_stream()>>>(
      codes, scales, elements, quantised_blocks(kForm, elements), x);
}

void encode(QuantisedForm form, const float* x, std::size_t elements, std::uint8_t* codes,
            float* scales) {
  check_alignment(x, codes, scales);
  if (elements == 0) return;
  if (form == QuantisedForm::int8) encode_form<QuantisedForm::int8>(x, elements, codes, scales);
  if (form == QuantisedForm::int4) encode_form<QuantisedForm::int4>(x, elements, codes, scales);
  if (form == QuantisedForm::fp8) encode_form<QuantisedForm::fp8>(x, elements, codes, scales);
  CHECK_CUDA(cudaGetLastError());
}

void decode(QuantisedForm form, const std::uint8_t* codes, const float* scales,
            std::size_t elements, float* x) {
  check_alignment(x, codes, scales);
  if (elements == 0) return;
  if (form == QuantisedForm::int8) decode_form<QuantisedForm::int8>(codes, scales, elements, x);
  if (form == QuantisedForm::int4) decode_form<QuantisedForm::int4>(codes, scales, elements, x);
  if (form == QuantisedForm::fp8) decode_form<QuantisedForm::fp8>(codes, scales, elements, x);
  CHECK_CUDA(cudaGetLastError());
}

void requantise(const std::uint8_t* codes, const float* scales, int parts, std::size_t elements,
                std::uint8_t* sum_codes, float* sum_scales) {
  CHECK(parts >= 1, "sum of {} parts", parts);
  check_alignment(codes, scales, sum_codes, sum_scales);
  const std::size_t blocks = quantised_blocks(QuantisedForm::int8, elements);
  if (blocks == 0) return;
  requantise_kernel<<<grid_of(blocks, 2 * kWarps), kThreads, 0, work_stream()>>>(
      reinterpret_cast<const uint4*>(codes), scales, parts, blocks,
      reinterpret_cast<uint4*>(sum_codes), sum_scales);
  CHECK_CUDA(cudaGetLastError());
}

constexpr Quantise kCuda = {encode, decode, requantise};

}  // namespace

const Quantise& cuda_quantise() {
  return kCuda;
}

}  // namespace windtunnel

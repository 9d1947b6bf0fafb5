// Sparse gradients: the k largest by magnitude, exactly (Aji and Heafield 2017, arXiv 1704.05021);
// those above a threshold that was found before (DGC, Lin et al. 2018, arXiv 1712.01887; Gaussian
// and reused thresholds); k by a seed (random-k, Stich et al. 2018, arXiv 1809.07599). Selection is
// by radix, as in AIR top-k (Zhang et al. 2023): a histogram of the highest bits of |x|, then one
// more read, in which what lies above the boundary's bin goes out and the bin itself into a list
// that later digits are decided on.
//
// Magnitudes are compared as bits of |x|, so that a NaN is the largest of all and is always
// selected, where it is noticed. Of equal magnitudes the lower index is taken. The CPU form writes
// in ascending order of index; the CUDA form gives the same set in no order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/device/device.hpp"

namespace windtunnel {

// Arrays lie in the device's memory and do not overlap, x and the workspace aligned to 16 bytes;
// elements < 2^32. Kernels may still run until Device::synchronize.
struct TopK {
  // What `select` needs; half of x's bytes and some.
  std::size_t (*workspace_bytes)(std::size_t elements);
  // k <= elements indices and values. Reads x twice where no digit's bin holds more than a 16th of
  // the elements, more often on inputs of few values.
  void (*select)(const float* x, std::size_t elements, std::size_t k, std::byte* workspace,
                 std::uint32_t* indices, float* values);
  // |x| >= threshold >= 0. *count is how many there are; those beyond `capacity` are not written,
  // on CUDA any of them.
  void (*above)(const float* x, std::size_t elements, float threshold, std::size_t capacity,
                std::uint32_t* indices, float* values, std::uint32_t* count);
  // 1 <= k <= elements, ascending and none twice, the same on every rank with this seed: one from
  // each of k equal parts, at floor(j n / k) and on, so that each element has a probability of one
  // in its part's size. Values x[index] with them.
  void (*random)(const float* x, std::size_t elements, std::size_t k, std::uint64_t seed,
                 std::uint32_t* indices, float* values);
  void (*gather)(const float* x, const std::uint32_t* indices, std::size_t k, float* values);
  // x[index] = value, or += value; no index twice.
  void (*scatter)(const std::uint32_t* indices, const float* values, std::size_t k, float* x);
  void (*scatter_add)(const std::uint32_t* indices, const float* values, std::size_t k, float* x);
};

const TopK& top_k(DeviceKind kind);

}  // namespace windtunnel

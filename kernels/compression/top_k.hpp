// Sparse gradients by three selections: exactly the k largest by magnitude (Aji and Heafield 2017,
// arXiv 1704.05021); all above a given threshold (DGC, Lin et al. 2018, arXiv 1712.01887; Gaussian
// and reused thresholds); k drawn with a seed (random-k, Stich et al. 2018, arXiv 1809.07599). The
// exact selection is by radix, as in AIR top-k (Zhang et al. 2023): it makes a histogram of the
// highest bits of |x|, then reads x once more, writes all elements above the bin that contains the
// boundary, and collects the elements of that bin in a list, which later digits divide.
//
// Magnitudes are compared as bits of |x|, so that a NaN is larger than any number, is always
// selected, and is noticed. Between equal magnitudes the lower index wins. The CPU form writes in
// ascending order of index; the CUDA form gives the same set in any order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/device/device.hpp"

namespace windtunnel {

// Arrays are in the device's memory and do not overlap; x and the workspace are aligned to 16
// bytes; elements < 2^32. Kernels may run until Device::synchronize.
struct TopK {
  // This is the size of the workspace of `select`: a little more than half of x.
  std::size_t (*workspace_bytes)(std::size_t elements);
  // Selects k <= elements indices and values. Reads x twice if no bin of a digit has more than 1/16
  // of the elements, and more often if x has few distinct values.
  void (*select)(const float* x, std::size_t elements, std::size_t k, std::byte* workspace,
                 std::uint32_t* indices, float* values);
  // Selects |x| >= threshold >= 0. *count is the number of such elements; at most `capacity` of
  // them are written (on CUDA any of them).
  void (*above)(const float* x, std::size_t elements, float threshold, std::size_t capacity,
                std::uint32_t* indices, float* values, std::uint32_t* count);
  // Draws k distinct indices in ascending order, 1 <= k <= elements, equal on every rank with this
  // seed, with the values x[index]. One index comes from each of k equal parts, which begin at
  // floor(j n / k); each element of a part is equally likely.
  void (*random)(const float* x, std::size_t elements, std::size_t k, std::uint64_t seed,
                 std::uint32_t* indices, float* values);
  void (*gather)(const float* x, const std::uint32_t* indices, std::size_t k, float* values);
  // Sets x[index] = value, or adds the value; indices are distinct.
  void (*scatter)(const std::uint32_t* indices, const float* values, std::size_t k, float* x);
  void (*scatter_add)(const std::uint32_t* indices, const float* values, std::size_t k, float* x);
};

const TopK& top_k(DeviceKind kind);

}  // namespace windtunnel

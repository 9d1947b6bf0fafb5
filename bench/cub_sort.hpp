// What an exact top-k is held against: a whole sort by CUB (nvidia.github.io/cccl/cub), descending,
// of keys that are all >= 0.
#pragma once

#include <cstddef>
#include <functional>

namespace windtunnel {

// Each owns its buffers and starts a sort of `keys`, which lie on the device, when it is called.
std::function<void()> cub_sorted_keys(const float* keys, std::size_t elements);
// Their indices go along: what a top-k tells too.
std::function<void()> cub_sorted_pairs(const float* keys, std::size_t elements);

}  // namespace windtunnel

// A descending sort by CUB (nvidia.github.io/cccl/cub) of keys >= 0, with which an exact top-k is
// compared.
#pragma once

#include <cstddef>
#include <functional>

namespace windtunnel {

// Each returns a function that owns its buffers and starts a sort of `keys`, which are in device
// memory.
std::function<void()> cub_sorted_keys(const float* keys, std::size_t elements);
// Also sorts the indices of the keys, because a top-k returns indices, too.
std::function<void()> cub_sorted_pairs(const float* keys, std::size_t elements);

}  // namespace windtunnel

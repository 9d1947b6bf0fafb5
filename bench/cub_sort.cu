#include <cstdint>
#include <cub/device/device_radix_sort.cuh>
#include <memory>
#include <numeric>
#include <vector>

#include "bench/cub_sort.hpp"
#include "kernels/device/cuda_check.cuh"
#include "kernels/device/device.hpp"
#include "kernels/device/work_stream.cuh"

namespace windtunnel {
namespace {

using Buffer = std::shared_ptr<DeviceBuffer>;

Buffer buffer(std::size_t bytes) {
  return std::make_shared<DeviceBuffer>(device(DeviceKind::cuda), bytes);
}

// Prepares `sort` in CUB's way: a first call without workspace returns the size that it needs.
template <typename Sort>
std::function<void()> prepared(const Sort& sort) {
  std::size_t bytes = 0;
  CHECK_CUDA(sort(nullptr, bytes));
  const Buffer workspace = buffer(bytes);
  return [sort, workspace, bytes] {
    std::size_t size = bytes;
    CHECK_CUDA(sort(workspace->data(), size));
  };
}

}  // namespace

std::function<void()> cub_sorted_keys(const float* keys, std::size_t elements) {
  const Buffer sorted = buffer(elements * sizeof(float));
  return prepared([=](void* workspace, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortKeysDescending(workspace, bytes, keys,
                                                    reinterpret_cast<float*>(sorted->data()),
                                                    elements, 0, 32, work_stream());
  });
}

std::function<void()> cub_sorted_pairs(const float* keys, std::size_t elements) {
  const Buffer sorted = buffer(elements * sizeof(float));
  const Buffer indices = buffer(elements * sizeof(std::uint32_t));
  const Buffer sorted_indices = buffer(elements * sizeof(std::uint32_t));
  std::vector<std::uint32_t> counted(elements);
  std::iota(counted.begin(), counted.end(), 0U);
  device(DeviceKind::cuda)
      .copy(indices->data(), reinterpret_cast<const std::byte*>(counted.data()),
            indices->size_bytes());
  return prepared([=](void* workspace, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairsDescending(
        workspace, bytes, keys, reinterpret_cast<float*>(sorted->data()),
        reinterpret_cast<const std::uint32_t*>(indices->data()),
        reinterpret_cast<std::uint32_t*>(sorted_indices->data()), elements, 0, 32, work_stream());
  });
}

}  // namespace windtunnel

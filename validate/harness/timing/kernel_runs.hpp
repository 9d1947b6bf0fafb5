// Prepares one kernel of kernels/, by its name in models/calibration/kernel_work.hpp, with buffers
// and data of its own.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "kernels/device/device.hpp"
#include "models/calibration/kernel_work.hpp"

namespace windtunnel {

// The result owns the buffers and starts the kernel whenever it is called.
using PrepareKernel = std::function<void()> (*)(const KernelWork& work, const Device& device);

// Returns null if the device does not have the kernel (for this type).
PrepareKernel find_kernel(const KernelWork& work, const Device& device);

inline std::size_t whole(double number) {
  return static_cast<std::size_t>(number);
}

// Buffers that a run keeps.
class RunBuffers {
 public:
  explicit RunBuffers(const Device& device) : device_(device) {}

  float* floats(double elements);  // normally distributed, like gradients
  template <typename T>
  T* zeros(std::size_t count) {
    return reinterpret_cast<T*>(zero_bytes(count * sizeof(T)));
  }
  // Random bytes, which neither repeat nor compress.
  std::byte* bytes(double size, MemoryKind kind = MemoryKind::device);
  // Repetitions of the tile.
  std::byte* tiled(const std::vector<std::byte>& tile, std::size_t size_bytes,
                   MemoryKind kind = MemoryKind::device);

 private:
  std::byte* zero_bytes(std::size_t size_bytes);

  const Device& device_;
  std::vector<DeviceBuffer> buffers_;
};

std::shared_ptr<RunBuffers> buffers_on(const Device& device);

// Prepares one kernel of a compressor, by its name in models/calibration/kernel_work.hpp, on
// normally distributed gradients. Returns null if it is not a compressor's kernel.
PrepareKernel find_compressor(std::string_view kernel);

}  // namespace windtunnel

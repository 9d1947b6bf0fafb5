// Memory of the emulated device: only what runs on the device may touch it, and what lies behind an
// array is nobody's. The host's instructions that touch it end the program.
#pragma once

#include <cstddef>

namespace cuda_host {

constexpr std::size_t kDeviceBytes = std::size_t{8} << 30;

// Null where so much is not free. Filled with bytes that are no zeros.
void* allocate_device(std::size_t size);
void free_device(void* memory);
std::size_t free_device_bytes();

// While one lives, what runs is the device.
class OnDevice {
 public:
  OnDevice();
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
};

}  // namespace cuda_host

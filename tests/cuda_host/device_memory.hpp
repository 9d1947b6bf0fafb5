// Memory of the emulated device. Host code that touches it, or device code that reads or writes
// beyond an array, ends the program.
#pragma once

#include <cstddef>

namespace cuda_host {

constexpr std::size_t kDeviceBytes = std::size_t{8} << 30;

// Returns memory filled with nonzero bytes; null if there is not enough free.
void* allocate_device(std::size_t size);
void free_device(void* memory);
std::size_t free_device_bytes();

// While an object of this type lives, running code counts as device code.
class OnDevice {
 public:
  OnDevice();
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
};

}  // namespace cuda_host

// What CUDA and the driver say of themselves on this machine, and what is wrong with it in words
// that tell what to do. Versions are CUDA's numbers, 13000 for 13.0. Values only, so that the
// messages are tested where no GPU is.
#pragma once

#include <cstddef>
#include <string>

namespace windtunnel {

struct CudaState {
  int devices = 0;
  std::string fault;       // CUDA's words where it could not count them
  int built_cuda = 0;      // toolkit of this program
  int driver_cuda = 0;     // the latest that the driver's library (libcuda) runs; 0: no driver
  int nvml_cuda = 0;       // the same as NVML tells it; 0: not known
  std::string driver;      // "580.65.06", as NVML tells it; empty: not known
  std::string nvml_fault;  // why NVML does not start, where it is there
  std::string visible;     // CUDA_VISIBLE_DEVICES
};

// Empty where kernels can run, else the reason why not.
std::string why_no_cuda(const CudaState& state);

std::string no_device_memory(std::size_t bytes, std::size_t free_bytes, std::size_t all_bytes);

}  // namespace windtunnel

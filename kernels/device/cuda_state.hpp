// What CUDA and the driver report about this machine, and a message that explains what is wrong and
// how to fix it. Versions are CUDA's numbers: 13000 is 13.0. The state is a plain value, so that
// messages can be tested without a GPU.
#pragma once

#include <cstddef>
#include <string>

namespace windtunnel {

struct CudaState {
  int devices = 0;
  std::string fault;       // CUDA's message if devices cannot be counted
  int built_cuda = 0;      // toolkit of this program
  int driver_cuda = 0;     // the latest that the driver library (libcuda) supports; 0: no driver
  int nvml_cuda = 0;       // the same according to NVML; 0: not known
  std::string driver;      // "580.65.06", from NVML; empty: not known
  std::string nvml_fault;  // why NVML does not start although it is there
  std::string visible;     // CUDA_VISIBLE_DEVICES
};

// Empty if kernels can run, else the reason why not.
std::string why_no_cuda(const CudaState& state);

std::string no_device_memory(std::size_t bytes, std::size_t free_bytes, std::size_t all_bytes);

}  // namespace windtunnel

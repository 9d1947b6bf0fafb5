// Turns a failed CUDA call into an Error with the call and CUDA's message. Clears the last error,
// which the next call would otherwise report again.
#pragma once

#include <cuda_runtime.h>

#include "models/base/error.hpp"

namespace windtunnel {

inline void check_cuda(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  throw Error(fmt::format("{}: {}", call, cudaGetErrorString(status)), ExitCode::failed);
}

}  // namespace windtunnel

#define CHECK_CUDA(call) ::windtunnel::check_cuda((call), #call)

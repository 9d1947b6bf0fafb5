#include "kernels/cuda_check.cuh"
#include "kernels/cuda_entries.hpp"

namespace windtunnel {
namespace {

std::string why_unusable() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return "";
  cudaGetLastError();
  return status == cudaSuccess ? "no CUDA device"
                               : fmt::format("no CUDA device: {}", cudaGetErrorString(status));
}

std::byte* allocate(std::size_t size_bytes) {
  void* memory = nullptr;
  CHECK_CUDA(cudaMalloc(&memory, size_bytes == 0 ? 1 : size_bytes));  // never a null pointer
  return static_cast<std::byte*>(memory);
}

// Called by destructors: an error left by an earlier kernel is not theirs to throw.
void release(std::byte* memory) {
  cudaFree(memory);
}

void copy(std::byte* to, const std::byte* from, std::size_t size_bytes) {
  CHECK_CUDA(cudaMemcpy(to, from, size_bytes, cudaMemcpyDefault));
}

void synchronize() {
  CHECK_CUDA(cudaDeviceSynchronize());
}

constexpr Device kCuda = {DeviceKind::cuda, "cuda", why_unusable, allocate,
                          release,          copy,   synchronize};

}  // namespace

const Device& cuda_device() {
  return kCuda;
}

}  // namespace windtunnel

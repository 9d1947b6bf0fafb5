#include <algorithm>

#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_entries.hpp"
#include "kernels/device/work_stream.cuh"
#include "kernels/layer/layer_ops.hpp"

namespace windtunnel {
namespace {

constexpr int kThreads = 256;
constexpr std::size_t kMaxBlocks = 132 * 32;  // fills every SM of the largest devices
// A block sums kColumns columns; its kThreads / kColumns rows of threads share their rows.
constexpr int kColumns = 32;
constexpr int kRows = kThreads / kColumns;

unsigned blocks_of(std::size_t pieces, std::size_t pieces_per_block) {
  return static_cast<unsigned>(
      std::min((pieces + pieces_per_block - 1) / pieces_per_block, kMaxBlocks));
}

__global__ void __launch_bounds__(kThreads)
    activate_each(const float* bias, bool relu, std::size_t elements, std::size_t columns,
                  float* y) {
  const std::size_t stride = std::size_t{gridDim.x} * kThreads;
  for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < elements;
       i += stride) {
    const float sum = y[i] + bias[i % columns];
    y[i] = relu && sum < 0 ? 0 : sum;
  }
}

__global__ void __launch_bounds__(kThreads)
    gradient_columns(const float* y, std::size_t rows, std::size_t columns, float* dy,
                     float* bias_gradient) {
  __shared__ float sums[kRows][kColumns];
  const std::size_t stride = std::size_t{gridDim.x} * kColumns;
  for (std::size_t first = std::size_t{blockIdx.x} * kColumns; first < columns; first += stride) {
    const std::size_t column = first + threadIdx.x;
    float sum = 0;
    for (std::size_t row = threadIdx.y; column < columns && row < rows; row += kRows) {
      const std::size_t at = row * columns + column;
      const float gradient = y == nullptr || y[at] > 0 ? dy[at] : 0;
      if (y != nullptr) dy[at] = gradient;
      sum += gradient;
    }
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && column < columns) {
      for (int i = 1; i < kRows; ++i) sum += sums[i][threadIdx.x];
      bias_gradient[column] = sum;
    }
    __syncthreads();
  }
}

__global__ void __launch_bounds__(kThreads)
    error_each(const float* y, const float* target, float scale, std::size_t elements, float* dy) {
  const std::size_t stride = std::size_t{gridDim.x} * kThreads;
  for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < elements;
       i += stride) {
    dy[i] = scale * (y[i] - target[i]);
  }
}

void activate(const float* bias, bool relu, std::size_t rows, std::size_t columns, float* y) {
  const std::size_t elements = rows * columns;
  if (elements == 0) return;
  activate_each<<<blocks_of(elements, kThreads), kThreads, 0, work_stream()>>>(bias, relu, elements,
                                                                               columns, y);
  CHECK_CUDA(cudaGetLastError());
}

void activation_gradient(const float* y, std::size_t rows, std::size_t columns, float* dy,
                         float* bias_gradient) {
  if (columns == 0) return;
  gradient_columns<<<blocks_of(columns, kColumns), dim3(kColumns, kRows), 0, work_stream()>>>(
      y, rows, columns, dy, bias_gradient);
  CHECK_CUDA(cudaGetLastError());
}

void error_gradient(const float* y, const float* target, float scale, std::size_t elements,
                    float* dy) {
  if (elements == 0) return;
  error_each<<<blocks_of(elements, kThreads), kThreads, 0, work_stream()>>>(y, target, scale,
                                                                            elements, dy);
  CHECK_CUDA(cudaGetLastError());
}

constexpr LayerOps kCuda = {activate, activation_gradient, error_gradient};

}  // namespace

const LayerOps& cuda_layer_ops() {
  return kCuda;
}

}  // namespace windtunnel

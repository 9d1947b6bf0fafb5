#include "kernels/layer/layer_ops.hpp"

#include <algorithm>

#include "kernels/device/cuda_entries.hpp"

namespace windtunnel {
namespace {

// Rows one by one: a vector loop over columns, and sums that stay in the first cache.
template <bool kRelu>
void activate_rows(const float* __restrict bias, std::size_t rows, std::size_t columns,
                   float* __restrict y) {
  for (std::size_t i = 0; i < rows; ++i) {
    float* const row = y + i * columns;
    for (std::size_t j = 0; j < columns; ++j) {
      const float sum = row[j] + bias[j];
      row[j] = kRelu && sum < 0 ? 0 : sum;
    }
  }
}

void activate(const float* bias, bool relu, std::size_t rows, std::size_t columns, float* y) {
  relu ? activate_rows<true>(bias, rows, columns, y) : activate_rows<false>(bias, rows, columns, y);
}

void activation_gradient(const float* __restrict y, std::size_t rows, std::size_t columns,
                         float* __restrict dy, float* __restrict bias_gradient) {
  std::fill_n(bias_gradient, columns, 0.0F);
  for (std::size_t i = 0; i < rows; ++i) {
    float* const row = dy + i * columns;
    if (y != nullptr) {
      const float* const outputs = y + i * columns;
      for (std::size_t j = 0; j < columns; ++j) row[j] = outputs[j] > 0 ? row[j] : 0;
    }
    for (std::size_t j = 0; j < columns; ++j) bias_gradient[j] += row[j];
  }
}

void error_gradient(const float* __restrict y, const float* __restrict target, float scale,
                    std::size_t elements, float* __restrict dy) {
  for (std::size_t i = 0; i < elements; ++i) dy[i] = scale * (y[i] - target[i]);
}

constexpr LayerOps kCpu = {activate, activation_gradient, error_gradient};

}  // namespace

const LayerOps& layer_ops(DeviceKind kind) {
  return kind == DeviceKind::cuda ? cuda_layer_ops() : kCpu;
}

}  // namespace windtunnel

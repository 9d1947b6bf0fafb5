// What a linear layer does beside its products: bias and ReLU on the way forward, their gradients
// on the way back, and the gradient of a squared error.
#pragma once

#include <cstddef>

#include "kernels/device/device.hpp"

namespace windtunnel {

// Arrays of fp32 in the device's memory, aligned to 4 bytes, matrices row by row; they do not
// overlap. Kernels may still run until Device::synchronize. CPU and CUDA give the same bits, but
// for sums, which they add up in different orders. Bytes are those that an element moves.
struct LayerOps {
  // y += bias in each row, and ReLU of that, which leaves a NaN as it is; 8.
  void (*activate)(const float* bias, bool relu, std::size_t rows, std::size_t columns, float* y);
  // dy = 0 where y is not above 0 (`y` null: no ReLU, dy stays), and bias_gradient = the sum of its
  // rows; 12, without ReLU 4.
  void (*activation_gradient)(const float* y, std::size_t rows, std::size_t columns, float* dy,
                              float* bias_gradient);
  // dy = scale (y - target), of scale/2 |y - target|^2; 12.
  void (*error_gradient)(const float* y, const float* target, float scale, std::size_t elements,
                         float* dy);
};

const LayerOps& layer_ops(DeviceKind kind);

}  // namespace windtunnel

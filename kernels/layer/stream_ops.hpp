// Operations bound by memory bandwidth: those of STREAM (McCalpin, "Memory bandwidth and machine
// balance in current high performance computers", 1995), a step of Adam or of plain descent, and
// copies.
#pragma once

#include <cstddef>

#include "kernels/device/device.hpp"

namespace windtunnel {

// The names and defaults are those of Kingma and Ba, "Adam: A Method for Stochastic Optimization",
// 2015.
struct AdamSettings {
  double learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999;  // in [0, 1)
  double epsilon = 1e-8;
  int step = 1;  // step of the training, from 1
};

// Arrays of fp32 in the device's memory, aligned to 4 bytes (16 is faster on CUDA). An output may
// be the same array as an input but overlaps nothing else. CPU and CUDA give the same bits; a NaN
// gives a NaN. The numbers after each function are the bytes moved per element.
struct StreamOps {
  void (*add)(const float* a, const float* b, float* c, std::size_t elements);  // c = a + b; 12
  void (*scale)(float s, const float* a, float* b, std::size_t elements);       // b = s a; 8
  // Reads and writes weight, mean and variance; 28.
  void (*adam)(const AdamSettings& settings, const float* gradient, float* weight, float* mean,
               float* variance, std::size_t elements);
  // Computes weight -= learning_rate * gradient with two roundings; 12.
  void (*sgd)(float learning_rate, const float* gradient, float* weight, std::size_t elements);
  // Copies between any two of device, pinned and pageable memory, at any alignment. Starts like a
  // kernel; on CUDA a copy of pageable memory returns only once its bytes are read or written.
  void (*copy)(std::byte* to, const std::byte* from, std::size_t size_bytes);
};

const StreamOps& stream_ops(DeviceKind kind);

// Copies in `streams` (1 to 8) equal parts in parallel.
void copy_beside(DeviceKind kind, std::byte* to, const std::byte* from, std::size_t size_bytes,
                 int streams);

}  // namespace windtunnel

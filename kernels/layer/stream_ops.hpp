// Work that a device's memory bounds: what STREAM measures (McCalpin, "Memory bandwidth and machine
// balance in current high performance computers", 1995), a step of Adam or of plain descent,
// and copies.
#pragma once

#include <cstddef>

#include "kernels/device/device.hpp"

namespace windtunnel {

// Kingma and Ba, "Adam: A Method for Stochastic Optimization", 2015; their defaults.
struct AdamSettings {
  double learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999;  // in [0, 1)
  double epsilon = 1e-8;
  int step = 1;  // of the training, from 1
};

// Arrays of fp32 in the device's memory, aligned to 4 bytes; 16 is the fast way on CUDA. What is
// written may be what is read, element by element, and overlaps nothing else. CPU and CUDA give the
// same bits; a NaN gives a NaN. Bytes are those that an element moves.
struct StreamOps {
  void (*add)(const float* a, const float* b, float* c, std::size_t elements);  // c = a + b; 12
  void (*scale)(float s, const float* a, float* b, std::size_t elements);       // b = s a; 8
  // weight, mean and variance are read and written; 28.
  void (*adam)(const AdamSettings& settings, const float* gradient, float* weight, float* mean,
               float* variance, std::size_t elements);
  // weight -= learning_rate * gradient, two roundings; 12.
  void (*sgd)(float learning_rate, const float* gradient, float* weight, std::size_t elements);
  // Between any two of device, pinned and pageable memory, at any alignment. Starts like a kernel;
  // CUDA: of pageable memory it returns once that has been read or written.
  void (*copy)(std::byte* to, const std::byte* from, std::size_t size_bytes);
};

const StreamOps& stream_ops(DeviceKind kind);

// The same copy in `streams` (1 to 8) equal parts at once.
void copy_beside(DeviceKind kind, std::byte* to, const std::byte* from, std::size_t size_bytes,
                 int streams);

}  // namespace windtunnel

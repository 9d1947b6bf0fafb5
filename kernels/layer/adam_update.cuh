// One element of a step of plain descent, and of Adam (Kingma and Ba, "Adam: A Method for
// Stochastic Optimization", 2015, algorithm 1). Host and device round after each operation and so
// give the same bits.
#pragma once

#include <cmath>

#include "kernels/device/host_device.cuh"

namespace windtunnel {

struct AdamFactors {
  float beta1, beta2;
  float rest1, rest2;  // 1 - beta
  float step_size;     // learning rate / (1 - beta1^t)
  float root;          // 1 / sqrt(1 - beta2^t)
  float epsilon;
};

// Prevents nvcc from forming a fused multiply-add.
WINDTUNNEL_BOTH inline float rounded_product(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}

WINDTUNNEL_BOTH inline float sgd_update(float learning_rate, float gradient, float weight) {
  return weight - rounded_product(learning_rate, gradient);
}

WINDTUNNEL_BOTH inline void adam_update(const AdamFactors& factors, float gradient, float& weight,
                                        float& mean, float& variance) {
  mean = rounded_product(factors.beta1, mean) + rounded_product(factors.rest1, gradient);
  variance = rounded_product(factors.beta2, variance) +
             rounded_product(rounded_product(factors.rest2, gradient), gradient);
  const float spread = rounded_product(std::sqrt(variance), factors.root) + factors.epsilon;
  weight -= rounded_product(factors.step_size, mean) / spread;
}

}  // namespace windtunnel

// The steps of PowerSGD (Vogels, Karimireddy and Jaggi, "PowerSGD: Practical low-rank gradient
// compression for distributed optimization", 2019) and ACP-SGD (Zhang et al., "Evaluation and
// optimization of gradient compression for distributed deep learning", 2023), for a batch of
// matrices of one shape. PowerSGD: project, orthonormalise P, back_project, subtract; ACP-SGD
// halves that: one step orthonormalises Q and projects, the next orthonormalises P and projects
// back.
#pragma once

#include <cstddef>
#include <string>

#include "kernels/device/device.hpp"

namespace windtunnel {

constexpr int kMaxRank = 64;
constexpr int kMaxBatch = 65535;  // blocks along y of a launch

// `batch` gradients M of m x n with factors P (m x r) and Q (n x r), each row by row and one matrix
// behind the other, fp32, in the device's memory, aligned to 4 bytes. All at least 1,
// r <= kMaxRank, batch <= kMaxBatch.
struct LowRankShape {
  int batch = 1, m = 1, n = 1, r = 1;
};

// A NaN or Inf stays inside of its matrix; the forms of both devices differ by rounding.
struct LowRank {
  // Empty where the steps can run, else the reason why not.
  std::string (*why_unusable)();
  void (*project)(const LowRankShape& shape, const float* gradient, const float* q,
                  float* p);  // P = M Q
  void (*back_project)(const LowRankShape& shape, const float* gradient, const float* p,
                       float* q);  // Q = M^T P
  void (*subtract)(const LowRankShape& shape, const float* p, const float* q,
                   float* gradient);  // M -= P Q^T: what the factors miss
  // Replaces `batch` matrices of m x r, r <= m, by orthonormal columns whose span holds the columns
  // given, each of the first j columns in that of the first j: |P^T P - I| <= 1e-5. Cholesky's
  // factor of the Gram matrix, twice (Fukaya et al., "CholeskyQR2", 2014; stable up to a condition
  // of 1/sqrt(2^-24)), and before that Householder's reflections for matrices whose condition,
  // columns scaled to one length, may exceed 1e3, so for those of lower rank and for zeros too. One
  // that is not finite becomes NaN.
  void (*orthonormalise)(int batch, int m, int r, float* p, std::byte* workspace);
};

// Aligned as DeviceBuffers are. Works of different streams must not share it.
std::size_t orthonormal_workspace_bytes(int batch, int m, int r);

// CPU: Eigen's products. CUDA: kernels of thin_product.hpp for small r, else cuBLAS; in full fp32.
const LowRank& low_rank(DeviceKind kind);

}  // namespace windtunnel

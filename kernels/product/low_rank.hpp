// The steps of PowerSGD (Vogels, Karimireddy and Jaggi, "PowerSGD: Practical low-rank gradient
// compression for distributed optimization", 2019) and ACP-SGD (Zhang et al., "Evaluation and
// optimization of gradient compression for distributed deep learning", 2023), for a batch of
// matrices of one shape. PowerSGD runs project, orthonormalise P, back_project, subtract. ACP-SGD
// does half per step: it alternates between orthonormalising Q and projecting, and orthonormalising
// P and projecting back.
#pragma once

#include <cstddef>
#include <string>

#include "kernels/device/device.hpp"

namespace windtunnel {

constexpr int kMaxRank = 64;
constexpr int kMaxBatch = 65535;  // blocks in the y dimension of a launch

// `batch` gradients M (m x n) with factors P (m x r) and Q (n x r), each row-major fp32 with
// matrices one after the other, in the device's memory, aligned to 4 bytes. All sizes are at least
// 1; r <= kMaxRank, batch <= kMaxBatch.
struct LowRankShape {
  int batch = 1, m = 1, n = 1, r = 1;
};

// A NaN or Inf affects only its matrix; results of CPU and CUDA differ by rounding.
struct LowRank {
  // Empty if the steps can run, else the reason why not.
  std::string (*why_unusable)();
  void (*project)(const LowRankShape& shape, const float* gradient, const float* q,
                  float* p);  // P = M Q
  void (*back_project)(const LowRankShape& shape, const float* gradient, const float* p,
                       float* q);  // Q = M^T P
  void (*subtract)(const LowRankShape& shape, const float* p, const float* q,
                   float* gradient);  // M -= P Q^T: the rest that the factors do not represent
  // Replaces `batch` matrices of m x r, r <= m, by matrices P with orthonormal columns: |P^T P - I|
  // <= 1e-5. For each j, the first j columns of P span the same space as the first j given columns.
  // Uses Cholesky's factor of the Gram matrix twice (Fukaya et al., "CholeskyQR2", 2014; stable up
  // to a condition of 1/sqrt(2^-24)). Matrices whose condition may exceed 1e3 (with columns scaled
  // to one length), including those of lower rank and zeros, first go through Householder's
  // reflections. A matrix that is not finite becomes NaN.
  void (*orthonormalise)(int batch, int m, int r, float* p, std::byte* workspace);
};

// The workspace is aligned like a DeviceBuffer. Works of different streams must not share it.
std::size_t orthonormal_workspace_bytes(int batch, int m, int r);

// The CPU uses Eigen's products. CUDA uses the kernels of thin_product.hpp for small r, else cuBLAS
// in full fp32.
const LowRank& low_rank(DeviceKind kind);

}  // namespace windtunnel

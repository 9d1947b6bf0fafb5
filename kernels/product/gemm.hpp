// Matrix products C = A B of row-major matrices: A is m x k, B k x n, C m x n.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "kernels/device/device.hpp"

namespace windtunnel {

// What the elements of A and B are. All sums are formed in fp32; tf32 reads fp32 with 10 bits of
// mantissa, fp8 is e4m3 with a scale of 1 and fast accumulation (the sums inside of a tensor core
// are not carried on in full fp32).
enum class GemmType { fp32, tf32, fp16, bf16, fp8 };

std::size_t gemm_in_bytes(GemmType type);   // an element of A and B: 4, 4, 2, 2, 1
std::size_t gemm_out_bytes(GemmType type);  // of C: fp32, fp32, fp16, bf16, bf16

// How many the harness times; bench/gpu_bench.cpp holds the fastest of them against that of all.
constexpr int kUsualProposals = 16;

struct GemmWork {
  GemmType type = GemmType::fp32;
  int m = 0, n = 0, k = 0;  // at least 1; fp8: multiples of 16
  // In the device's memory, starting at multiples of 256 bytes (CPU: 4), C apart from both. fp8:
  // B lies column by column (k-contiguous), as Hopper's tensor cores take it.
  const std::byte* a = nullptr;
  const std::byte* b = nullptr;
  std::byte* c = nullptr;
  // So many of the algorithms that the library's heuristic proposes are run and timed when the
  // first work of this form is prepared, on what its A and B hold then; the fastest stays, for all
  // of the form. 1: the heuristic's first, untimed.
  int proposals = 1;
  // A lies as k x m, B as n x k: gradients of a linear layer, dW = dY^T X, and its Y = X W^T. Not
  // fp8, which has its own order.
  bool transposed_a = false, transposed_b = false;
};

struct Gemm {
  // Empty where this type can be multiplied, else the reason why not.
  std::string (*why_unusable)(GemmType type);
  // Starts the product whenever it is called; works on the memory given here, which must outlive
  // it. Throws Error where the library has no algorithm for it.
  std::function<void()> (*prepared)(const GemmWork& work);
};

// Operands to time products on, 1 to 2 in size, of both signs: a GPU computes zeros at a higher
// clock than numbers (their wires do not toggle).
std::vector<std::byte> gemm_numbers(GemmType type, std::size_t elements);

// CPU: Eigen, fp32 alone. CUDA: cuBLASLt, with 32 MiB of workspace for each stream. One
// thread prepares works.
const Gemm& gemm(DeviceKind kind);

}  // namespace windtunnel

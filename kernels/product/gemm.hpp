// Matrix products C = A B of row-major matrices: A is m x k, B k x n, C m x n.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "kernels/device/device.hpp"

namespace windtunnel {

// The type of elements of A and B. All sums are in fp32. tf32 reads fp32 with 10 bits of mantissa;
// fp8 is e4m3 with a scale of 1 and fast accumulation (sums within a tensor core have less than
// full fp32 precision).
enum class GemmType { fp32, tf32, fp16, bf16, fp8 };

std::size_t gemm_in_bytes(GemmType type);   // of an element of A and B: 4, 4, 2, 2, 1
std::size_t gemm_out_bytes(GemmType type);  // of C: fp32, fp32, fp16, bf16, bf16

// How many proposed algorithms the harness times; bench/gpu_bench.cpp compares the fastest of them
// with the fastest of all.
constexpr int kUsualProposals = 16;

struct GemmWork {
  GemmType type = GemmType::fp32;
  int m = 0, n = 0, k = 0;  // at least 1; fp8: multiples of 16
  // In the device's memory, aligned to 256 bytes (CPU: 4); C does not overlap A or B. For fp8, B is
  // column-major (k-contiguous), as Hopper's tensor cores require.
  const std::byte* a = nullptr;
  const std::byte* b = nullptr;
  std::byte* c = nullptr;
  // How many of the algorithms proposed by the library's heuristic are timed, on the present
  // content of A and B, when a work of this type and shape is first prepared. Later works of the
  // same type and shape use the fastest. 1: the heuristic's first, untimed.
  int proposals = 1;
  // A is stored as k x m, B as n x k: for gradients of a linear layer, dW = dY^T X, and for Y = X
  // W^T. Not for fp8, which has a fixed order.
  bool transposed_a = false, transposed_b = false;
};

struct Gemm {
  // Empty if this type can be multiplied, else the reason why not.
  std::string (*why_unusable)(GemmType type);
  // Returns a function that starts the product. The memory of `work` must outlive it. Throws Error
  // if the library has no algorithm for it.
  std::function<void()> (*prepared)(const GemmWork& work);
};

// Operands for timing, of magnitude 1 to 2 and both signs: a GPU multiplies zeros at a higher
// clock, because their wires do not toggle.
std::vector<std::byte> gemm_numbers(GemmType type, std::size_t elements);

// CPU: Eigen, only fp32. CUDA: cuBLASLt, with 32 MiB of workspace per stream. Only one thread may
// prepare works.
const Gemm& gemm(DeviceKind kind);

}  // namespace windtunnel

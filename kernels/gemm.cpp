#include "kernels/gemm.hpp"

#include <Eigen/Core>
#include <utility>

#include "kernels/cuda_entries.hpp"
#include "models/base/error.hpp"

namespace windtunnel {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

std::string why_unusable(GemmType type) {
  return type == GemmType::fp32 ? "" : "the CPU multiplies fp32 alone";
}

using Reading = Eigen::Map<const Matrix>;

// The operand that lies as `rows` x `columns`, or transposed.
Reading stored(const std::byte* values, int rows, int columns, bool transposed) {
  if (transposed) std::swap(rows, columns);
  return {reinterpret_cast<const float*>(values), rows, columns};
}

void multiply(const GemmWork& work) {
  const Reading a = stored(work.a, work.m, work.k, work.transposed_a);
  const Reading b = stored(work.b, work.k, work.n, work.transposed_b);
  Eigen::Map<Matrix> c(reinterpret_cast<float*>(work.c), work.m, work.n);
  if (work.transposed_a && work.transposed_b) {
    c.noalias() = a.transpose() * b.transpose();
  } else if (work.transposed_a) {
    c.noalias() = a.transpose() * b;
  } else if (work.transposed_b) {
    c.noalias() = a * b.transpose();
  } else {
    c.noalias() = a * b;
  }
}

std::function<void()> prepared(const GemmWork& work) {
  CHECK(work.m >= 1 && work.n >= 1 && work.k >= 1, "a product of {} x {} x {}", work.m, work.n,
        work.k);
  const std::string reason = why_unusable(work.type);
  if (!reason.empty()) throw Error(reason);
  return [work] { multiply(work); };
}

constexpr Gemm kCpu = {why_unusable, prepared};

}  // namespace

std::size_t gemm_in_bytes(GemmType type) {
  if (type == GemmType::fp8) return 1;
  return type == GemmType::fp16 || type == GemmType::bf16 ? 2 : 4;
}

std::size_t gemm_out_bytes(GemmType type) {
  return std::max(gemm_in_bytes(type), std::size_t{2});
}

const Gemm& gemm(DeviceKind kind) {
  return kind == DeviceKind::cuda ? cuda_gemm() : kCpu;
}

}  // namespace windtunnel

#include "kernels/gemm.hpp"

#include <Eigen/Core>

#include "kernels/cuda_entries.hpp"
#include "models/base/error.hpp"

namespace windtunnel {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

std::string why_unusable(GemmType type) {
  return type == GemmType::fp32 ? "" : "the CPU multiplies fp32 alone";
}

void multiply(const GemmWork& work) {
  const Eigen::Map<const Matrix> a(reinterpret_cast<const float*>(work.a), work.m, work.k);
  const Eigen::Map<const Matrix> b(reinterpret_cast<const float*>(work.b), work.k, work.n);
  Eigen::Map<Matrix>(reinterpret_cast<float*>(work.c), work.m, work.n).noalias() = a * b;
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

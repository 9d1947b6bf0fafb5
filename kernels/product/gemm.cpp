#include "kernels/product/gemm.hpp"

#include <Eigen/Core>
#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/device/cuda_entries.hpp"
#include "models/base/error.hpp"
#include "models/base/random.hpp"

namespace windtunnel {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

std::string why_unusable(GemmType type) {
  return type == GemmType::fp32 ? "" : "the CPU backend multiplies only fp32";
}

using Reading = Eigen::Map<const Matrix>;

// An operand stored as `rows` x `columns`, or transposed.
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

// A number format has `bits` bits, `mantissa` of them for the mantissa, and writes 1.0 as `one`.
struct Form {
  int bits;
  std::uint32_t one;
  int mantissa;
};

Form form_of(GemmType type) {
  switch (type) {
    case GemmType::fp32:
    case GemmType::tf32:
      return {32, 0x3f800000, 23};
    case GemmType::fp16:
      return {16, 0x3c00, 10};
    case GemmType::bf16:
      return {16, 0x3f80, 7};
    case GemmType::fp8:
      return {8, 0x38, 3};
  }
  CHECK(false, "type {} of a product", static_cast<int>(type));
}

}  // namespace

std::vector<std::byte> gemm_numbers(GemmType type, std::size_t elements) {
  const Form form = form_of(type);
  const std::size_t size = gemm_in_bytes(type);
  RandomStream random(1, RandomPurpose::measurement, 3);
  std::vector<std::byte> bytes(elements * size);
  for (std::size_t i = 0; i < elements; ++i) {
    const auto mantissa =
        static_cast<std::uint32_t>(random.below(std::uint64_t{1} << form.mantissa));
    const auto sign = static_cast<std::uint32_t>(random.below(2)) << (form.bits - 1);
    const std::uint32_t number = sign | form.one | mantissa;
    std::memcpy(bytes.data() + i * size, &number, size);
  }
  return bytes;
}

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

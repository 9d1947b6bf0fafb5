#include "validate/harness/kernel_runs.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "kernels/galois_code.hpp"
#include "kernels/gemm.hpp"
#include "kernels/low_rank.hpp"
#include "kernels/quantise.hpp"
#include "kernels/sign_code.hpp"
#include "kernels/stream_ops.hpp"
#include "kernels/ternary.hpp"
#include "kernels/top_k.hpp"
#include "kernels/xor_code.hpp"
#include "models/base/random.hpp"
#include "models/galois.hpp"

namespace windtunnel {
namespace {

using Run = std::function<void()>;
constexpr std::size_t kFloat = sizeof(float);

size_t whole(double number) {
  return static_cast<size_t>(number);
}

// Bytes that neither repeat nor compress, made once: filling is no part of what is timed.
const std::vector<std::byte>& noise() {
  static const std::vector<std::byte> bytes = [] {
    RandomStream random(1, RandomPurpose::measurement, 1);
    std::vector<std::byte> made(std::size_t{1} << 20);
    for (std::byte& byte : made) byte = static_cast<std::byte>(random.below(256));
    return made;
  }();
  return bytes;
}

DeviceBuffer filled(const Device& device, std::size_t size_bytes) {
  DeviceBuffer buffer(device, size_bytes);
  for (std::size_t start = 0; start < size_bytes; start += noise().size()) {
    device.copy(buffer.data() + start, noise().data(),
                std::min(noise().size(), size_bytes - start));
  }
  return buffer;
}

// Blocks of a code: sources first, then targets.
struct Blocks {
  std::vector<DeviceBuffer> buffers;
  std::vector<const std::byte*> from;
  std::vector<std::byte*> to;

  Blocks(const Device& device, std::size_t sources, std::size_t targets, std::size_t size_bytes) {
    for (std::size_t i = 0; i < sources + targets; ++i) {
      buffers.push_back(filled(device, size_bytes));
      if (i < sources) {
        from.push_back(buffers.back().data());
      } else {
        to.push_back(buffers.back().data());
      }
    }
  }
};

Run prepare_xor(const KernelWork& work, const Device& device) {
  auto blocks = std::make_shared<Blocks>(device, whole(work.k), 1, whole(work.bytes));
  return [=, &device] {
    xor_code(device.kind)
        .combine(blocks->from.data(), static_cast<int>(blocks->from.size()), blocks->to[0],
                 whole(work.bytes));
  };
}

Run prepare_sums(const GaloisMatrix& coefficients, const KernelWork& work, const Device& device,
                 bool add) {
  auto blocks = std::make_shared<Blocks>(device, whole(coefficients.columns),
                                         whole(coefficients.rows), whole(work.bytes));
  return [=, &device] {
    galois_code(device.kind)
        .combine(coefficients.values.data(), coefficients.rows, blocks->from.data(),
                 coefficients.columns, blocks->to.data(), whole(work.bytes), add);
  };
}

Run prepare_encode(const KernelWork& work, const Device& device) {
  return prepare_sums(cauchy_parity(static_cast<int>(work.k), static_cast<int>(work.m)), work,
                      device, false);
}

// The first m blocks are lost.
Run prepare_decode(const KernelWork& work, const Device& device) {
  std::vector<int> lost(whole(work.m));
  std::iota(lost.begin(), lost.end(), 0);
  const GaloisMatrix parity = cauchy_parity(static_cast<int>(work.k), static_cast<int>(work.m));
  return prepare_sums(rebuild_of(parity, lost).coefficients, work, device, false);
}

Run prepare_update(const KernelWork& work, const Device& device) {
  const GaloisMatrix parity = cauchy_parity(static_cast<int>(work.k), static_cast<int>(work.m));
  GaloisMatrix column = zero_matrix(parity.rows, 1);
  for (int row = 0; row < parity.rows; ++row) column.at(row, 0) = parity.at(row, 0);
  return prepare_sums(column, work, device, true);
}

// Gradients look like a normal law; a tile of them, repeated.
const std::vector<std::byte>& gradients() {
  static const std::vector<std::byte> bytes = [] {
    RandomStream random(1, RandomPurpose::measurement, 2);
    std::vector<std::byte> made(std::size_t{1} << 20);
    for (std::size_t at = 0; at < made.size(); at += kFloat) {
      const auto value = static_cast<float>(random.normal());
      std::memcpy(made.data() + at, &value, kFloat);
    }
    return made;
  }();
  return bytes;
}

// Buffers that a run keeps, by their place.
class Buffers {
 public:
  explicit Buffers(const Device& device) : device_(device) {}

  float* floats(double elements) {
    return reinterpret_cast<float*>(tiled(gradients(), whole(elements) * kFloat));
  }
  template <typename T>
  T* zeros(std::size_t count) {
    static const std::vector<std::byte> nothing(std::size_t{1} << 20);
    return reinterpret_cast<T*>(tiled(nothing, count * sizeof(T)));
  }
  std::byte* bytes(double size, MemoryKind kind = MemoryKind::device) {
    return tiled(noise(), whole(size), kind);
  }

 private:
  std::byte* tiled(const std::vector<std::byte>& tile, std::size_t size_bytes,
                   MemoryKind kind = MemoryKind::device) {
    buffers_.emplace_back(device_, size_bytes, kind);
    std::byte* const data = buffers_.back().data();
    for (std::size_t start = 0; start < size_bytes; start += tile.size()) {
      device_.copy(data + start, tile.data(), std::min(tile.size(), size_bytes - start));
    }
    return data;
  }

  const Device& device_;
  std::vector<DeviceBuffer> buffers_;
};

std::shared_ptr<Buffers> buffers_on(const Device& device) {
  return std::make_shared<Buffers>(device);
}

constexpr GemmType gemm_type(Precision precision) {
  switch (precision) {
    case Precision::tf32:
      return GemmType::tf32;
    case Precision::fp16:
      return GemmType::fp16;
    case Precision::bf16:
      return GemmType::bf16;
    case Precision::fp8:
      return GemmType::fp8;
    default:
      return GemmType::fp32;
  }
}

Run prepare_gemm(const KernelWork& work, const Device& device) {
  auto buffers = buffers_on(device);
  const GemmType type = gemm_type(work.precision);
  const auto in = static_cast<double>(gemm_in_bytes(type));
  GemmWork product;
  product.type = type;
  product.m = static_cast<int>(work.m);
  product.n = static_cast<int>(work.n);
  product.k = static_cast<int>(work.k);
  const auto matrix = [&](double elements) {
    return type == GemmType::fp32 || type == GemmType::tf32
               ? reinterpret_cast<std::byte*>(buffers->floats(elements))
               : buffers->zeros<std::byte>(whole(elements * in));
  };
  product.a = matrix(work.m * work.k);
  product.b = matrix(work.k * work.n);
  product.c = buffers->zeros<std::byte>(whole(work.m * work.n) * gemm_out_bytes(type));
  product.proposals = kUsualProposals;
  const Run run = gemm(device.kind).prepared(product);
  return [buffers, run] { run(); };
}

template <MemoryKind kFrom, MemoryKind kTo>
Run prepare_copy(const KernelWork& work, const Device& device) {
  auto buffers = buffers_on(device);
  const std::byte* const from = buffers->bytes(work.bytes, kFrom);
  std::byte* const to = buffers->bytes(work.bytes, kTo);
  const auto copy = stream_ops(device.kind).copy;
  const std::size_t size_bytes = whole(work.bytes);
  return [=, kept = buffers] { copy(to, from, size_bytes); };
}

Run prepare_add(const KernelWork& work, const Device& device) {
  auto buffers = buffers_on(device);
  const float* const a = buffers->floats(work.elements);
  const float* const b = buffers->floats(work.elements);
  float* const c = buffers->floats(work.elements);
  const auto add = stream_ops(device.kind).add;
  return [=, kept = buffers, n = whole(work.elements)] { add(a, b, c, n); };
}

Run prepare_scale(const KernelWork& work, const Device& device) {
  auto buffers = buffers_on(device);
  const float* const a = buffers->floats(work.elements);
  float* const b = buffers->floats(work.elements);
  const auto scale = stream_ops(device.kind).scale;
  return [=, kept = buffers, n = whole(work.elements)] { scale(2.0F, a, b, n); };
}

Run prepare_adam(const KernelWork& work, const Device& device) {
  auto buffers = buffers_on(device);
  const float* const gradient = buffers->floats(work.elements);
  float* const weight = buffers->floats(work.elements);
  float* const mean = buffers->zeros<float>(whole(work.elements));
  float* const variance = buffers->zeros<float>(whole(work.elements));
  const auto adam = stream_ops(device.kind).adam;
  return [=, kept = buffers, n = whole(work.elements)] {
    adam({}, gradient, weight, mean, variance, n);
  };
}

// A rate of zero: weights stay what they are, however often it runs.
Run prepare_sgd(const KernelWork& work, const Device& device) {
  auto buffers = buffers_on(device);
  const float* const gradient = buffers->floats(work.elements);
  float* const weight = buffers->floats(work.elements);
  const auto sgd = stream_ops(device.kind).sgd;
  return [=, kept = buffers, n = whole(work.elements)] { sgd(0, gradient, weight, n); };
}

template <QuantisedForm kForm, bool kEncode>
Run prepare_quantise(const KernelWork& work, const Device& device) {
  auto buffers = buffers_on(device);
  const std::size_t n = whole(work.elements);
  float* const x = buffers->floats(work.elements);
  auto* const codes = buffers->zeros<std::uint8_t>(code_bytes(kForm, n));
  auto* const scales = buffers->zeros<float>(quantised_blocks(kForm, n));
  const Quantise& forms = quantise(device.kind);
  forms.encode(kForm, x, n, codes, scales);
  return [=, kept = buffers, &forms] {
    if (kEncode) {
      forms.encode(kForm, x, n, codes, scales);
    } else {
      forms.decode(kForm, codes, scales, n, x);
    }
  };
}

Run prepare_requantise(const KernelWork& work, const Device& device) {
  auto buffers = buffers_on(device);
  const std::size_t n = whole(work.elements);
  const std::size_t size = code_bytes(QuantisedForm::int8, n);
  const std::size_t blocks = quantised_blocks(QuantisedForm::int8, n);
  const auto parts = static_cast<int>(work.k);
  const float* const x = buffers->floats(work.elements);
  auto* const codes = buffers->zeros<std::uint8_t>(size * whole(work.k));
  auto* const scales = buffers->zeros<float>(blocks * whole(work.k));
  auto* const sum = buffers->zeros<std::uint8_t>(size);
  auto* const sum_scales = buffers->zeros<float>(blocks);
  const Quantise& forms = quantise(device.kind);
  forms.encode(QuantisedForm::int8, x, n, codes, scales);
  device.synchronize();
  // Alike: only the first is sure to be aligned as encoding asks.
  for (std::size_t part = 1; part < whole(work.k); ++part) {
    device.copy(reinterpret_cast<std::byte*>(codes + part * size),
                reinterpret_cast<const std::byte*>(codes), size);
    device.copy(reinterpret_cast<std::byte*>(scales + part * blocks),
                reinterpret_cast<const std::byte*>(scales), blocks * kFloat);
  }
  return
      [=, kept = buffers, &forms] { forms.requantise(codes, scales, parts, n, sum, sum_scales); };
}

Run prepare_sign_pack(const KernelWork& work, const Device& device) {
  auto buffers = buffers_on(device);
  const std::size_t n = whole(work.elements);
  const float* const x = buffers->floats(work.elements);
  auto* const words = buffers->zeros<std::uint32_t>(sign_words(n));
  const auto pack = sign_code(device.kind).pack;
  return [=, kept = buffers] { pack(x, n, words); };
}

Run prepare_sign_unpack(const KernelWork& work, const Device& device) {
  auto buffers = buffers_on(device);
  const std::size_t n = whole(work.elements);
  float* const x = buffers->floats(work.elements);
  const auto* const words = reinterpret_cast<const std::uint32_t*>(
      buffers->bytes(static_cast<double>(sign_words(n) * sizeof(std::uint32_t))));
  const auto* const magnitude = buffers->zeros<double>(1);
  const auto unpack = sign_code(device.kind).unpack;
  return [=, kept = buffers] { unpack(words, n, magnitude, x); };
}

template <bool kMagnitude>
Run prepare_sign_error(const KernelWork& work, const Device& device) {
  auto buffers = buffers_on(device);
  const std::size_t n = whole(work.elements);
  const float* const gradient = buffers->floats(work.elements);
  float* const error = buffers->zeros<float>(n);
  auto* const words = buffers->zeros<std::uint32_t>(sign_words(n));
  auto* const sums = buffers->zeros<double>(2);
  const SignCode& code = sign_code(device.kind);
  code.magnitude(gradient, error, n, sums);
  return [=, kept = buffers, &code] {
    if (kMagnitude) {
      code.magnitude(gradient, error, n, sums);
    } else {
      code.error(gradient, n, sums, error, words, sums + 1);
    }
  };
}

enum class TernaryStep { maximum, encode, decode };

template <TernaryStep step>
Run prepare_ternary(const KernelWork& work, const Device& device) {
  auto buffers = buffers_on(device);
  const std::size_t n = whole(work.elements);
  float* const x = buffers->floats(work.elements);
  auto* const maximum = buffers->zeros<float>(1);
  auto* const words = buffers->zeros<std::uint32_t>(ternary_words(n));
  const Ternary& code = ternary(device.kind);
  code.maximum(x, n, maximum);
  code.encode(x, n, maximum, 1, words);
  return [=, kept = buffers, &code] {
    if (step == TernaryStep::maximum) code.maximum(x, n, maximum);
    if (step == TernaryStep::encode) code.encode(x, n, maximum, 1, words);
    if (step == TernaryStep::decode) code.decode(words, n, maximum, x);
  };
}

Run prepare_top_k(const KernelWork& work, const Device& device) {
  auto buffers = buffers_on(device);
  const std::size_t n = whole(work.elements);
  const std::size_t k = whole(work.k);
  const float* const x = buffers->floats(work.elements);
  const TopK& select = top_k(device.kind);
  auto* const workspace = buffers->zeros<std::byte>(select.workspace_bytes(n));
  auto* const indices = buffers->zeros<std::uint32_t>(k);
  auto* const values = buffers->zeros<float>(k);
  return [=, kept = buffers, &select] { select.select(x, n, k, workspace, indices, values); };
}

// Of a normal law 1 % lies beyond 2.576 standard deviations, as much as the suite keeps.
Run prepare_threshold(const KernelWork& work, const Device& device) {
  auto buffers = buffers_on(device);
  const std::size_t n = whole(work.elements);
  const float* const x = buffers->floats(work.elements);
  const std::size_t capacity = 2 * whole(work.k);
  auto* const indices = buffers->zeros<std::uint32_t>(capacity);
  auto* const values = buffers->zeros<float>(capacity);
  auto* const count = buffers->zeros<std::uint32_t>(1);
  const auto above = top_k(device.kind).above;
  return [=, kept = buffers] { above(x, n, 2.576F, capacity, indices, values, count); };
}

template <bool kScatter>
Run prepare_random(const KernelWork& work, const Device& device) {
  auto buffers = buffers_on(device);
  const std::size_t n = whole(work.elements);
  const std::size_t k = whole(work.k);
  float* const x = buffers->floats(work.elements);
  auto* const indices = buffers->zeros<std::uint32_t>(k);
  auto* const values = buffers->zeros<float>(k);
  const TopK& select = top_k(device.kind);
  select.random(x, n, k, 1, indices, values);
  return [=, kept = buffers, &select] {
    if (kScatter) {
      select.scatter(indices, values, k, x);
    } else {
      select.random(x, n, k, 1, indices, values);
    }
  };
}

enum class LowRankStep { project, back, subtract };

template <LowRankStep step>
Run prepare_low_rank(const KernelWork& work, const Device& device) {
  auto buffers = buffers_on(device);
  const LowRankShape shape{1, static_cast<int>(work.m), static_cast<int>(work.n),
                           static_cast<int>(work.k)};
  float* const gradient = buffers->floats(work.m * work.n);
  float* const q = buffers->floats(work.n * work.k);
  float* const p = buffers->floats(work.m * work.k);
  const LowRank& steps = low_rank(device.kind);
  return [=, &steps, kept = buffers] {
    if (step == LowRankStep::project) steps.project(shape, gradient, q, p);
    if (step == LowRankStep::back) steps.back_project(shape, gradient, p, q);
    if (step == LowRankStep::subtract) steps.subtract(shape, p, q, gradient);
  };
}

// The gradient from its factors.
Run prepare_expand(const KernelWork& work, const Device& device) {
  auto buffers = buffers_on(device);
  GemmWork product;
  product.m = static_cast<int>(work.m);
  product.n = static_cast<int>(work.n);
  product.k = static_cast<int>(work.k);
  product.a = reinterpret_cast<const std::byte*>(buffers->floats(work.m * work.k));
  product.b = reinterpret_cast<const std::byte*>(buffers->floats(work.n * work.k));
  product.c = reinterpret_cast<std::byte*>(buffers->floats(work.m * work.n));
  product.transposed_b = true;
  return [run = gemm(device.kind).prepared(product), kept = buffers] { run(); };
}

// In place: what it finds the second time is orthonormal already, and takes as long.
Run prepare_orthonormal(const KernelWork& work, const Device& device) {
  auto buffers = buffers_on(device);
  const auto m = static_cast<int>(work.m);
  const auto r = static_cast<int>(work.k);
  float* const p = buffers->floats(work.m * work.k);
  auto* const workspace = buffers->zeros<std::byte>(orthonormal_workspace_bytes(1, m, r));
  const auto orthonormalise = low_rank(device.kind).orthonormalise;
  return [=, kept = buffers] { orthonormalise(1, m, r, p, workspace); };
}

struct Kernel {
  std::string_view name;
  PrepareKernel prepare;
};

constexpr MemoryKind kDevice = MemoryKind::device;
constexpr MemoryKind kPinned = MemoryKind::pinned;
constexpr MemoryKind kPageable = MemoryKind::pageable;

constexpr std::array<Kernel, 37> kKernels = {{
    {"gemm", prepare_gemm},
    {"add", prepare_add},
    {"scale", prepare_scale},
    {"adam", prepare_adam},
    {"sgd", prepare_sgd},
    {"copy", prepare_copy<kDevice, kDevice>},
    {"copy-to-device", prepare_copy<kPinned, kDevice>},
    {"copy-to-host", prepare_copy<kDevice, kPinned>},
    {"copy-to-device-pageable", prepare_copy<kPageable, kDevice>},
    {"copy-to-host-pageable", prepare_copy<kDevice, kPageable>},
    {"xor", prepare_xor},
    {"rs-encode", prepare_encode},
    {"rs-decode", prepare_decode},
    {"rs-update", prepare_update},
    {"sign-pack", prepare_sign_pack},
    {"sign-unpack", prepare_sign_unpack},
    {"sign-error", prepare_sign_error<false>},
    {"sign-magnitude", prepare_sign_error<true>},
    {"ternary", prepare_ternary<TernaryStep::encode>},
    {"ternary-max", prepare_ternary<TernaryStep::maximum>},
    {"ternary-decode", prepare_ternary<TernaryStep::decode>},
    {"quantise-int8", prepare_quantise<QuantisedForm::int8, true>},
    {"dequantise-int8", prepare_quantise<QuantisedForm::int8, false>},
    {"quantise-int4", prepare_quantise<QuantisedForm::int4, true>},
    {"dequantise-int4", prepare_quantise<QuantisedForm::int4, false>},
    {"quantise-fp8", prepare_quantise<QuantisedForm::fp8, true>},
    {"dequantise-fp8", prepare_quantise<QuantisedForm::fp8, false>},
    {"requantise-int8", prepare_requantise},
    {"top-k", prepare_top_k},
    {"threshold", prepare_threshold},
    {"random-k", prepare_random<false>},
    {"scatter", prepare_random<true>},
    {"low-rank", prepare_low_rank<LowRankStep::project>},
    {"low-rank-back", prepare_low_rank<LowRankStep::back>},
    {"low-rank-subtract", prepare_low_rank<LowRankStep::subtract>},
    {"low-rank-expand", prepare_expand},
    {"orthonormalise", prepare_orthonormal},
}};

bool is_between_memories(std::string_view kernel) {
  return kernel.starts_with("copy-");
}

}  // namespace

PrepareKernel find_kernel(const KernelWork& work, const Device& device) {
  // A CPU has one memory.
  if (device.kind == DeviceKind::cpu && is_between_memories(work.kernel)) return nullptr;
  if (work.kernel == "gemm" && !gemm(device.kind).why_unusable(gemm_type(work.precision)).empty()) {
    return nullptr;
  }
  const auto* const found = std::ranges::find(kKernels, work.kernel, &Kernel::name);
  return found == kKernels.end() ? nullptr : found->prepare;
}

}  // namespace windtunnel

#include <algorithm>
#include <array>
#include <functional>

#include "kernels/compression/quantise.hpp"
#include "kernels/compression/sign_code.hpp"
#include "kernels/compression/sketch.hpp"
#include "kernels/compression/ternary.hpp"
#include "kernels/compression/top_k.hpp"
#include "kernels/product/gemm.hpp"
#include "kernels/product/low_rank.hpp"
#include "validate/harness/timing/kernel_runs.hpp"

namespace windtunnel {
namespace {

using Run = std::function<void()>;

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
  // The parts are copies, because only the first is sure to have the alignment for encoding.
  for (std::size_t part = 1; part < whole(work.k); ++part) {
    device.copy(reinterpret_cast<std::byte*>(codes + part * size),
                reinterpret_cast<const std::byte*>(codes), size);
    device.copy(reinterpret_cast<std::byte*>(scales + part * blocks),
                reinterpret_cast<const std::byte*>(scales), blocks * sizeof(float));
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

// The buffers hold random signs, about half of them positive.
Run prepare_vote(const KernelWork& work, const Device& device) {
  auto buffers = buffers_on(device);
  const std::size_t n = whole(work.elements);
  const auto* const words = reinterpret_cast<const std::uint32_t*>(
      buffers->bytes(work.k * static_cast<double>(sign_words(n) * sizeof(std::uint32_t))));
  auto* const majority = buffers->zeros<std::uint32_t>(sign_words(n));
  const auto vote = sign_code(device.kind).vote;
  return [=, kept = buffers, parts = static_cast<int>(work.k)] { vote(words, parts, n, majority); };
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

// In a normal distribution 1 % lies beyond 2.576 standard deviations, the share that the suite
// keeps.
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

// Sketches gradients without zeros, for which the bytes are counted.
template <bool kEstimate>
Run prepare_sketch(const KernelWork& work, const Device& device) {
  auto buffers = buffers_on(device);
  const std::size_t n = whole(work.elements);
  const std::size_t columns = whole(work.k);
  float* const x = buffers->floats(work.elements);
  auto* const counters = buffers->zeros<float>(kSketchRows * columns);
  auto* const bitmap = buffers->zeros<std::uint32_t>(bitmap_words(n));
  const Sketch& kernels = sketch(device.kind);
  kernels.encode(x, n, 1, columns, counters, bitmap);
  return [=, kept = buffers, &kernels] {
    if (kEstimate) {
      kernels.estimate(counters, columns, 1, bitmap, n, x);
    } else {
      kernels.encode(x, n, 1, columns, counters, bitmap);
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

// Computes the gradient from its factors.
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

// Works in place: from the second run on the columns are already orthonormal, which takes as long.
Run prepare_orthonormal(const KernelWork& work, const Device& device) {
  auto buffers = buffers_on(device);
  const auto m = static_cast<int>(work.m);
  const auto r = static_cast<int>(work.k);
  float* const p = buffers->floats(work.m * work.k);
  auto* const workspace = buffers->zeros<std::byte>(orthonormal_workspace_bytes(1, m, r));
  const auto orthonormalise = low_rank(device.kind).orthonormalise;
  return [=, kept = buffers] { orthonormalise(1, m, r, p, workspace); };
}

struct Compressor {
  std::string_view name;
  PrepareKernel prepare;
};

constexpr std::array<Compressor, 26> kCompressors = {{
    {"sign-pack", prepare_sign_pack},
    {"sign-unpack", prepare_sign_unpack},
    {"sign-error", prepare_sign_error<false>},
    {"sign-magnitude", prepare_sign_error<true>},
    {"vote", prepare_vote},
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
    {"sketch", prepare_sketch<false>},
    {"sketch-estimate", prepare_sketch<true>},
    {"low-rank", prepare_low_rank<LowRankStep::project>},
    {"low-rank-back", prepare_low_rank<LowRankStep::back>},
    {"low-rank-subtract", prepare_low_rank<LowRankStep::subtract>},
    {"low-rank-expand", prepare_expand},
    {"orthonormalise", prepare_orthonormal},
}};

}  // namespace

PrepareKernel find_compressor(std::string_view kernel) {
  const auto* const found = std::ranges::find(kCompressors, kernel, &Compressor::name);
  return found == kCompressors.end() ? nullptr : found->prepare;
}

}  // namespace windtunnel

// PowerSGD and ACP-SGD exchange gradients as factors of low rank, as costed in low_rank.cpp of
// models/compression.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/layer/stream_ops.hpp"
#include "kernels/product/gemm.hpp"
#include "kernels/product/low_rank.hpp"
#include "models/base/error.hpp"
#include "models/base/random.hpp"
#include "models/compression/recipes.hpp"
#include "tests/validate/harness/exchange/exchange_parts.hpp"

namespace windtunnel {
namespace {

// This is a batch of gradients that have one shape, with their factors.
struct Factored {
  LowRankShape shape;
  float* gradient = nullptr;
  float* error = nullptr;
  std::size_t at_p = 0;  // offset in the array of all P; at_q: of all Q
  std::size_t at_q = 0;

  // Returns the number of rows (or columns) of all matrices together; `side` is that of one matrix.
  std::size_t size(int side) const {
    return static_cast<std::size_t>(side) * static_cast<std::size_t>(shape.batch);
  }
};

std::size_t padded(std::size_t elements) {
  return (elements + kTensorElements - 1) / kTensorElements * kTensorElements;
}

constexpr std::uint64_t kSeed = 1;  // equal on all ranks

class LowRankExchange {
 public:
  explicit LowRankExchange(ExchangeParts& parts)
      : parts_(parts), kernels_(low_rank(parts.device->kind)) {
    const double rank = parts.choice.rank;
    std::vector<std::size_t> factored;
    std::vector<std::size_t> dense;
    for (std::size_t i = 0; i < parts.tensors.size(); ++i) {
      (low_rank_pays(parts.tensors[i], rank) ? factored : dense).push_back(i);
    }
    if (!factored.empty() && rank > kMaxRank) {
      throw Error(parts.choice.where, fmt::format("compressor {}: kernels run ranks of at most {}",
                                                  parts.choice.name, kMaxRank));
    }
    std::size_t factored_elements = 0;
    for (const std::size_t i : factored) factored_elements += padded_elements(parts.tensors[i]);
    for (const std::size_t i : dense) dense_elements_ += padded_elements(parts.tensors[i]);
    float* const gradients = parts.array<float>(factored_elements + dense_elements_);
    dense_ = gradients + factored_elements;
    lay_out(parts, factored, gradients, parts.gradients);
    lay_out(parts, dense, dense_, parts.gradients);
    add_factors(factored);
    array_ = {gradients, nullptr, factored_elements};
    if (!parts.keeps_error()) return;
    array_.error = parts.array<float>(factored_elements);
    lay_out(parts, factored, array_.error, parts.errors);
    for (std::size_t i = 0; i < factored.size(); ++i) {
      matrices_[i].error = parts.errors[factored[i]];
    }
  }

  bool empty() const { return matrices_.empty(); }

  // P = M Q is summed and made orthonormal; Q = M^T P is summed; the result is P Q^T. A rank's
  // error is its matrix less an equal share of the result.
  void add_power_sgd() {
    add_error(parts_, array_);
    for (const Factored& matrix : matrices_) project(matrix, p_ + matrix.at_p);
    if (dense_elements_ > 0) parts_.all_reduce(dense_, dense_elements_);
    parts_.all_reduce(p_, p_elements_);
    for (const Factored& matrix : matrices_) {
      orthonormalise(matrix.shape.m, matrix, p_ + matrix.at_p);
      back_project(matrix, q_ + matrix.at_q);
    }
    parts_.all_reduce(q_, q_elements_);
    if (array_.error != nullptr) {
      auto* const share = parts_.array<float>(q_elements_);
      scale(1.0F / static_cast<float>(parts_.ranks()), q_, share, q_elements_);
      for (const Factored& matrix : matrices_) {
        subtract(matrix, p_ + matrix.at_p, share + matrix.at_q);
      }
    }
    for (const Factored& matrix : matrices_) multiply(matrix);
  }

  // One run sends P, the next Q; a rank's error is its matrix less the part that its own factor
  // represents.
  void add_acp_sgd(bool left) {
    float* const sent = left ? p_ : q_;
    const std::size_t elements = left ? p_elements_ : q_elements_;
    add_error(parts_, array_);
    for (const Factored& matrix : matrices_) {
      orthonormalise(left ? matrix.shape.n : matrix.shape.m, matrix,
                     left ? q_ + matrix.at_q : p_ + matrix.at_p);
      left ? project(matrix, p_ + matrix.at_p) : back_project(matrix, q_ + matrix.at_q);
      if (array_.error != nullptr) subtract(matrix, p_ + matrix.at_p, q_ + matrix.at_q);
    }
    if (dense_elements_ > 0) parts_.copy(sent + elements, dense_, dense_elements_ * sizeof(float));
    parts_.all_reduce(sent, elements + dense_elements_);
    if (dense_elements_ > 0) parts_.copy(dense_, sent + elements, dense_elements_ * sizeof(float));
    for (const Factored& matrix : matrices_) multiply(matrix);
  }

 private:
  void add_factors(std::span<const std::size_t> factored) {
    const auto r = static_cast<int>(parts_.choice.rank);
    const auto rank = static_cast<std::size_t>(r);
    std::size_t workspace_bytes = 0;
    for (const std::size_t i : factored) {
      const TensorShape& tensor = parts_.tensors[i];
      Factored matrix{{static_cast<int>(tensor.count), static_cast<int>(tensor.rows),
                       static_cast<int>(tensor.columns), r},
                      parts_.gradients[i]};
      matrix.at_p = p_elements_;
      matrix.at_q = q_elements_;
      p_elements_ += padded(matrix.size(matrix.shape.m) * rank);
      q_elements_ += padded(matrix.size(matrix.shape.n) * rank);
      for (const int side : {matrix.shape.m, matrix.shape.n}) {
        workspace_bytes =
            std::max(workspace_bytes, orthonormal_workspace_bytes(matrix.shape.batch, side, r));
      }
      matrices_.push_back(matrix);
    }
    p_ = parts_.array<float>(p_elements_ + dense_elements_);
    q_ = parts_.array<float>(q_elements_ + dense_elements_);
    workspace_ = parts_.zeros(workspace_bytes);
    RandomStream random(kSeed, RandomPurpose::measurement, 0);
    for (const Factored& matrix : matrices_) {
      fill(random, p_ + matrix.at_p, matrix.size(matrix.shape.m) * rank);
      fill(random, q_ + matrix.at_q, matrix.size(matrix.shape.n) * rank);
    }
  }

  void fill(RandomStream& random, float* factor, std::size_t elements) const {
    std::vector<float> values(elements);
    for (float& value : values) value = static_cast<float>(random.normal());
    parts_.fill(factor, values);
  }

  // Returns the matrix that is factored: the error if one is kept, else the gradient.
  static float* source(const Factored& matrix) {
    return matrix.error != nullptr ? matrix.error : matrix.gradient;
  }

  static KernelWork low_rank_work(const char* name, const Factored& matrix) {
    KernelWork work;
    work.kernel = name;
    work.m = static_cast<double>(matrix.size(matrix.shape.m));
    work.n = matrix.shape.n;
    work.k = matrix.shape.r;
    return work;
  }

  void project(const Factored& matrix, float* p) {
    parts_.kernel(low_rank_work("low-rank", matrix),
                  [&kernels = kernels_, matrix, p, q = q_ + matrix.at_q] {
                    kernels.project(matrix.shape, source(matrix), q, p);
                  });
  }
  void back_project(const Factored& matrix, float* q) {
    parts_.kernel(low_rank_work("low-rank-back", matrix),
                  [&kernels = kernels_, matrix, q, p = p_ + matrix.at_p] {
                    kernels.back_project(matrix.shape, source(matrix), p, q);
                  });
  }
  void subtract(const Factored& matrix, const float* p, const float* q) {
    parts_.kernel(low_rank_work("low-rank-subtract", matrix), [&kernels = kernels_, matrix, p, q] {
      kernels.subtract(matrix.shape, p, q, matrix.error);
    });
  }

  void orthonormalise(int side, const Factored& matrix, float* factor) {
    KernelWork work;
    work.kernel = "orthonormalise";
    work.m = static_cast<double>(matrix.size(side));
    work.k = matrix.shape.r;
    parts_.kernel(
        work, [&kernels = kernels_, shape = matrix.shape, side, factor, workspace = workspace_] {
          kernels.orthonormalise(shape.batch, side, shape.r, factor, workspace);
        });
  }

  void scale(float s, const float* from, float* to, std::size_t elements) {
    const auto run = stream_ops(parts_.device->kind).scale;
    parts_.kernel("scale", static_cast<double>(elements), [=] { run(s, from, to, elements); });
  }

  // Computes gradient = P Q^T.
  void multiply(const Factored& matrix) {
    const LowRankShape& shape = matrix.shape;
    for (int i = 0; i < shape.batch; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const auto there = [&](float* values, int rows, int columns) {
        return reinterpret_cast<std::byte*>(values + at * static_cast<std::size_t>(rows) *
                                                         static_cast<std::size_t>(columns));
      };
      GemmWork product;
      product.m = shape.m;
      product.n = shape.n;
      product.k = shape.r;
      product.a = there(p_ + matrix.at_p, shape.m, shape.r);
      product.b = there(q_ + matrix.at_q, shape.n, shape.r);
      product.c = there(matrix.gradient, shape.m, shape.n);
      product.transposed_b = true;
      KernelWork work = low_rank_work("low-rank-expand", matrix);
      work.m = shape.m;
      parts_.kernel(work, gemm(parts_.device->kind).prepared(product));
    }
  }

  ExchangeParts& parts_;
  const LowRank& kernels_;
  std::vector<Factored> matrices_;
  GradientArray array_;
  float* dense_ = nullptr;
  std::size_t dense_elements_ = 0;
  float* p_ = nullptr;
  float* q_ = nullptr;
  std::size_t p_elements_ = 0;
  std::size_t q_elements_ = 0;
  std::byte* workspace_ = nullptr;
};

}  // namespace

void add_power_sgd_exchange(ExchangeParts& parts) {
  LowRankExchange exchange(parts);
  if (exchange.empty()) {
    parts.gradients.clear();
    parts.errors.clear();
    return add_dense_exchange(parts);
  }
  exchange.add_power_sgd();
}

void add_acp_sgd_exchange(ExchangeParts& parts) {
  LowRankExchange exchange(parts);
  if (exchange.empty()) {
    parts.gradients.clear();
    parts.errors.clear();
    return add_dense_exchange(parts);
  }
  exchange.add_acp_sgd(true);
  parts.turns.emplace_back();
  exchange.add_acp_sgd(false);
}

}  // namespace windtunnel

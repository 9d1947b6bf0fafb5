// Low-rank methods send a gradient matrix M (n x m) as factors P and Q of rank r: M = P Q^T.
//
// PowerSGD (Vogels et al. 2019, arXiv 1905.13727): M = G + E; P = M Q; all-reduce P; orthonormalise
// P; Q = M^T P; all-reduce Q; then G' = P Q^T and E = M - G' in one pass. It takes 6nmr + 2nr^2
// FLOPs; in fp32 with error feedback it moves 32 bytes of HBM per element of M, and the factors.
// PyTorch's hook (torch/distributed/algorithms/ddp_comm_hooks/powerSGD_hook.py, 1.7 to 2.x) also
// orthonormalises Q, which is the previous step's sum, keeps a copy of M and subtracts in a
// separate pass: 2mr^2 FLOPs and 12 bytes more. ACP-SGD (Shi et al. 2023, arXiv 2306.08881)
// computes one factor per step from the other one of the previous step, which is orthonormalised
// first: P = (M + E) Q, E += M - P Q^T, all-reduce P, G = P Q^T; in the next step the roles change.
// It takes 6nmr + 2(n or m) r^2 FLOPs, here the average, and 40 bytes per element as the authors'
// code runs it.
#include <algorithm>

#include "models/compression/recipe_parts.hpp"
#include "models/compression/recipes.hpp"

namespace windtunnel {
namespace {

// The matrices that are sent as factors, and the rest of the buffer, which is not.
struct LowRank {
  struct Matrix {
    double n = 0, m = 0, r = 0, count = 1;
    double elements() const { return n * m * count; }
  };
  std::vector<Matrix> matrices;
  double elements = 0;
  double dense_bytes = 0;
  double left_bytes = 0;   // of all P
  double right_bytes = 0;  // of all Q

  LowRank(std::span<const TensorShape> tensors, std::span<const double> ranks, double b) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      const TensorShape& t = tensors[i];
      if (!low_rank_pays(t, ranks[i])) {
        dense_bytes += b * t.elements();
        continue;
      }
      add({t.rows, t.columns, ranks[i], t.count});
      elements += t.elements();
      left_bytes += b * t.rows * ranks[i] * t.count;
      right_bytes += b * t.columns * ranks[i] * t.count;
    }
  }

 private:
  // Equal shapes become one entry: fewer ops with the same number of kernels.
  void add(const Matrix& matrix) {
    const auto same = std::ranges::find_if(matrices, [&](const Matrix& other) {
      return other.n == matrix.n && other.m == matrix.m && other.r == matrix.r;
    });
    if (same == matrices.end()) {
      matrices.push_back(matrix);
    } else {
      same->count += matrix.count;
    }
  }
};

// Gram-Schmidt column by column: 2 n r^2 operations; the factor read and written.
Op orthonormalise(double n, double r, double count, double b) {
  Op op = pass("orthonormalise", 2 * b * n * r * count, r * count);
  op.flops = 2 * n * r * r * count;
  op.launches = count;
  return op;
}

Op low_rank_product(std::string_view kernel, double m, double n, double k,
                    const LowRank::Matrix& of, double b) {
  Op op = product("low-rank product", m, n, k, of.count, b);
  op.kernel = kernel;
  return op;
}

constexpr std::string_view kProject = "low-rank";            // M Q
constexpr std::string_view kBack = "low-rank-back";          // M^T P
constexpr std::string_view kSubtract = "low-rank-subtract";  // M - P Q^T
constexpr std::string_view kExpand = "low-rank-expand";      // P Q^T

}  // namespace

bool low_rank_pays(const TensorShape& tensor, double rank) {
  constexpr double kLeastRate = 2;
  return tensor.matrix() &&
         (tensor.rows + tensor.columns) * rank * kLeastRate < tensor.rows * tensor.columns;
}

namespace {

enum class PowerSgd { published, hook };

Recipe power_sgd(PowerSgd form, std::span<const double> ranks, const CompressorChoice& choice,
                 std::span<const TensorShape> tensors, double b) {
  const LowRank buffer(tensors, ranks, b);
  Recipe recipe;
  if (buffer.matrices.empty()) {
    add_dense(buffer.dense_bytes, recipe);
    return recipe;
  }
  std::vector<Op> first;
  std::vector<Op> second;
  std::vector<Op> decode;
  add_feedback(choice.feedback, buffer.elements, b, first, recipe);
  const bool keeps_error = !first.empty();
  const bool hook = form == PowerSgd::hook;
  if (hook && keeps_error) {
    first.push_back(pass("error add", 2 * b * buffer.elements));  // the copy
    first.back().kernel = "add";
    recipe.buffer_bytes += b * buffer.elements;
  }
  for (const LowRank::Matrix& matrix : buffer.matrices) {
    const double n = matrix.n;
    const double m = matrix.m;
    const double r = matrix.r;
    if (hook) first.push_back(orthonormalise(m, r, matrix.count, b));
    first.push_back(low_rank_product(kProject, n, r, m, matrix, b));
    second.push_back(orthonormalise(n, r, matrix.count, b));
    second.push_back(low_rank_product(kBack, m, r, n, matrix, b));
    decode.push_back(low_rank_product(kExpand, n, m, r, matrix, b));
    if (keeps_error && !hook) {
      decode.back().bytes += 2 * b * matrix.elements();  // M read, E written
      decode.back().second_kernel = kSubtract;
    }
  }
  if (hook && keeps_error) {
    decode.push_back(pass("error add", 3 * b * buffer.elements));
    decode.back().kernel = "add";
  }
  // PyTorch computes all P before it sends the dense part.
  if (buffer.dense_bytes > 0) {
    recipe.steps.push_back(all_reduce_step(std::move(first), buffer.dense_bytes));
    first.clear();
  }
  recipe.steps.push_back(all_reduce_step(std::move(first), buffer.left_bytes));
  recipe.steps.push_back(all_reduce_step(std::move(second), buffer.right_bytes));
  recipe.steps.push_back(last_step(std::move(decode)));
  recipe.state_bytes += buffer.right_bytes;  // Q, from which the next step starts
  recipe.buffer_bytes += buffer.left_bytes;
  return recipe;
}

}  // namespace

Recipe powersgd_recipe(std::span<const double> ranks, const CompressorChoice& choice,
                       std::span<const TensorShape> tensors, double b) {
  return power_sgd(PowerSgd::published, ranks, choice, tensors, b);
}

Recipe powersgd_recipe(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                       const ReducingGroup& /*group*/, double b) {
  const std::vector<double> ranks(tensors.size(), choice.rank);
  return powersgd_recipe(ranks, choice, tensors, b);
}

Recipe powersgd_hook_recipe(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                            const ReducingGroup& /*group*/, double b) {
  const std::vector<double> ranks(tensors.size(), choice.rank);
  return power_sgd(PowerSgd::hook, ranks, choice, tensors, b);
}

Recipe acp_sgd_recipe(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                      const ReducingGroup& /*group*/, double b) {
  const LowRank buffer(tensors, std::vector<double>(tensors.size(), choice.rank), b);
  Recipe recipe;
  if (buffer.matrices.empty()) {
    add_dense(buffer.dense_bytes, recipe);
    return recipe;
  }
  std::vector<Op> encode;
  std::vector<Op> decode;
  add_feedback(choice.feedback, buffer.elements, b, encode, recipe);
  const bool keeps_error = !encode.empty();
  for (const LowRank::Matrix& matrix : buffer.matrices) {
    const double n = matrix.n;
    const double m = matrix.m;
    const double r = matrix.r;
    // The average factor; products with either one have the same FLOPs and bytes.
    encode.push_back(orthonormalise((n + m) / 2, r, matrix.count, b));
    encode.push_back(low_rank_product(kProject, n, r, m, matrix, b));
    if (keeps_error) {
      // E += M, then E -= P Q^T, which reads and writes it.
      encode.push_back(pass("error add", 3 * b * matrix.elements(), matrix.count));
      encode.back().kernel = "add";
      encode.push_back(low_rank_product(kSubtract, n, m, r, matrix, b));
      encode.back().bytes += b * matrix.elements();
    }
    decode.push_back(low_rank_product(kExpand, n, m, r, matrix, b));
  }
  const double sent = (buffer.left_bytes + buffer.right_bytes) / 2;
  recipe.steps.push_back(all_reduce_step(std::move(encode), sent + buffer.dense_bytes));
  recipe.steps.push_back(last_step(std::move(decode)));
  recipe.state_bytes += buffer.left_bytes + buffer.right_bytes;
  return recipe;
}

}  // namespace windtunnel

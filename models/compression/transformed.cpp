// Gradients sent as something else: sketches, cosine coefficients, seeds.
#include <cmath>

#include "models/compression/recipe_parts.hpp"
#include "models/compression/recipes.hpp"

namespace windtunnel {
namespace {

Op sketch_pass(double bytes, std::string_view kernel) {
  Op op = pass("sketch", bytes);
  op.kernel = kernel;
  return op;
}

}  // namespace

// S2 Reducer (Ge et al. 2021, arXiv 2110.02140): nonzero elements go into a count-sketch of density
// * N counters, which are summed. A bitmap records their positions (combined by OR, which MPI and
// Gloo support and NCCL does not); medians are read at its set bits.
Recipe s2_reducer_recipe(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                         const ReducingGroup& group, double b) {
  constexpr double kHashes = 3;
  const GradientBuffer buffer = gradient_buffer(tensors);
  const double n = buffer.elements();
  const double filled = buffer.filled_elements;
  // The union over all ranks, if their places are independent.
  const double united = n > 0 ? n * (1 - std::pow(1 - filled / n, group.ranks)) : 0;
  Recipe recipe;
  std::vector<Op> kernels;
  add_feedback(choice.feedback, n, b, kernels, recipe);
  kernels.push_back(sketch_pass(b * n + n / 8 + 2 * kHashes * b * filled, "sketch"));
  recipe.steps.push_back(all_reduce_step(std::move(kernels), b * choice.density * n));
  recipe.steps.push_back(all_reduce_step({}, n / 8));
  recipe.steps.push_back(
      last_step({sketch_pass(n / 8 + (kHashes + 1) * b * united, "sketch-estimate")}));
  recipe.buffer_bytes = b * choice.density * n + n / 8;
  return recipe;
}

// DeMo (Peng et al. 2024, arXiv 2411.19870) sends the fast part of the momentum: the largest
// coefficients of cosine transforms of s x s chunks; the rest stays in the momentum. A transform is
// two products with an s x s matrix, 4s FLOPs per element. There are three: forward, the inverse of
// the sent part to subtract it from the momentum, and the inverse of the sum, whose signs are the
// update.
Recipe demo_recipe(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                   const ReducingGroup& group, double /*b*/) {
  const double n = elements_of(tensors);
  const double k = choice.density * n;
  const double s = choice.block;
  const double pair = kStateBytes + kIndexBytes;
  const auto transform = [&] {
    Op op = product("transform", s, s, s, 2 * n / (s * s), kStateBytes);
    op.bytes = 2 * kStateBytes * n;  // both products in one kernel
    op.launches = op.starts = 1;
    return op;
  };
  Recipe recipe;
  recipe.steps.push_back(
      all_gather_step({pass("error add", 3 * kStateBytes * n), transform(),
                       pass("threshold", kStateBytes * n + pair * k), transform()},
                      pair * k, group));
  recipe.steps.push_back(
      last_step({pass("scatter", (pair + kStateBytes) * k * group.ranks), transform()}));
  recipe.buffer_bytes = pair * k * (1 + group.ranks);
  return recipe;
}

// An update is a random direction of a known seed times one number (Zelikman et al. 2023, arXiv
// 2306.10015: one byte a sample), so that sending it costs latency alone. All directions are drawn
// again and added in one pass over the weights. Such steps have two forward passes and no backward
// (TrainingMethod::zeroth_order).
Recipe one_byte_recipe(const CompressorChoice& /*choice*/, std::span<const TensorShape> tensors,
                       const ReducingGroup& group, double b) {
  Recipe recipe;
  recipe.steps.push_back(all_gather_step({}, 1, group));
  recipe.steps.push_back(last_step({pass("draw", 2 * b * elements_of(tensors))}));
  recipe.steps.back().by_part = true;
  return recipe;
}

}  // namespace windtunnel

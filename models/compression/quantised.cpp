// Compressors that send a few bits per element and a scale for each block, or one scale for all.
#include <cmath>

#include "models/compression/recipe_parts.hpp"
#include "models/compression/recipes.hpp"

namespace windtunnel {
namespace {

Op ternary_pass(double bytes, std::string_view kernel) {
  Op op = pass("ternary", bytes);
  op.kernel = kernel;
  return op;
}

// Sends parts to the rank that sums them, requantises them and hands out the sum: 2 (P-1)/P of
// `packed`.
Recipe two_hops(ErrorFeedback feedback, double n, double packed, double starts,
                const QuantiseKernels& measured, const ReducingGroup& group, double b) {
  Recipe recipe;
  std::vector<Op> kernels;
  add_feedback(feedback, n, b, kernels, recipe);
  kernels.push_back(block_pass(b * n + packed, starts, measured.quantise));
  add_two_hops(std::move(kernels), {requantise_pass(packed, group.ranks)}, packed, recipe);
  recipe.steps.push_back(last_step({block_pass(packed + b * n, starts, measured.dequantise)}));
  recipe.steps.back().by_part = true;
  recipe.buffer_bytes = 2 * packed;
  return recipe;
}

Recipe of_bits(double bits, const CompressorChoice& choice, std::span<const TensorShape> tensors,
               const ReducingGroup& group, double b) {
  const double n = elements_of(tensors);
  return two_hops(choice.feedback, n, n * (bits / 8 + kScaleBytes / choice.block), 1,
                  quantise_kernels(bits), group, b);
}

}  // namespace

// QSGD (Alistarh et al. 2017, arXiv 1610.02132) with CGX's scatter-reduce-gather (Markov et al.
// 2022, arXiv 2111.08617).
Recipe quantised_recipe(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                        const ReducingGroup& group, double b) {
  return of_bits(choice.bits, choice, tensors, group, b);
}

Recipe quantised_recipe(std::span<const double> bits, const CompressorChoice& choice,
                        std::span<const TensorShape> tensors, const ReducingGroup& group,
                        double b) {
  double packed = 0;
  double count = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    packed += tensors[i].elements() * (bits[i] / 8 + kScaleBytes / choice.block);
    count += tensors[i].count;
  }
  return two_hops(choice.feedback, elements_of(tensors), packed, count, {}, group, b);
}

Recipe int8_recipe(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                   const ReducingGroup& group, double b) {
  return of_bits(8, choice, tensors, group, b);
}

Recipe int6_recipe(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                   const ReducingGroup& group, double b) {
  return of_bits(6, choice, tensors, group, b);
}

Recipe int4_recipe(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                   const ReducingGroup& group, double b) {
  return of_bits(4, choice, tensors, group, b);
}

// NCCL sums e4m3 and e5m2 (nccl.h of 2.28.9). A tensor has one scale, from its maximum in the step
// before, on which all ranks agree first.
Recipe fp8_recipe(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                  const ReducingGroup& /*group*/, double b) {
  const GradientBuffer buffer = gradient_buffer(tensors);
  const double n = buffer.elements();
  Recipe recipe;
  recipe.steps.push_back(all_reduce_step({}, kScaleBytes * buffer.tensors));
  std::vector<Op> kernels;
  add_feedback(choice.feedback, n, b, kernels, recipe);
  kernels.push_back(block_pass((b + 1) * n, 1, "quantise-fp8"));
  recipe.steps.push_back(all_reduce_step(std::move(kernels), n));
  recipe.steps.push_back(last_step({block_pass((1 + b) * n, 1, "dequantise-fp8")}));
  recipe.buffer_bytes = n;
  return recipe;
}

// TernGrad (Wen et al. 2017, arXiv 1705.07878): -1, 0 or 1 with random rounding, under one scale a
// tensor that all agree on; a sum of P such numbers takes log2(2P + 1) bits.
Recipe tern_grad_recipe(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                        const ReducingGroup& group, double b) {
  const GradientBuffer buffer = gradient_buffer(tensors);
  const double n = buffer.elements();
  const double sums = n * std::log2(2.0 * group.ranks + 1) / 8;
  Recipe recipe;
  std::vector<Op> kernels;
  add_feedback(choice.feedback, n, b, kernels, recipe);
  kernels.push_back(ternary_pass(b * n, "ternary-max"));
  recipe.steps.push_back(all_reduce_step(std::move(kernels), kScaleBytes * buffer.tensors));
  recipe.steps.push_back(all_reduce_step({ternary_pass(b * n + n / 4, "ternary")}, sums));
  recipe.steps.push_back(last_step({ternary_pass(sums + b * n, "ternary-decode")}));
  recipe.buffer_bytes = sums;
  return recipe;
}

}  // namespace windtunnel

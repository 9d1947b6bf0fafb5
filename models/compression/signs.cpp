// Compressors that send one bit of each element: N/8 bytes.
#include "models/compression/recipe_parts.hpp"
#include "models/compression/recipes.hpp"

namespace windtunnel {
namespace {

// Signs of each part go to one rank, which votes and sends the result to all: 2 (P-1)/P N/8 bytes.
Recipe voted(ErrorFeedback feedback, double n, const ReducingGroup& group, double b) {
  const double bits = n / 8;
  Recipe recipe;
  std::vector<Op> kernels;
  add_feedback(feedback, n, b, kernels, recipe);
  const bool keeps_error = !kernels.empty();
  // With error feedback the mean magnitude is sent as a scale, which takes another read.
  kernels.push_back(keeps_error ? pass("sign error", 2 * b * n + bits)
                                : pass("sign pack", b * n + bits));
  if (feedback == ErrorFeedback::ef) {
    // The measured kernels divide this work otherwise: "sign-magnitude" runs first, and
    // "sign-error" adds the error, takes signs and keeps the rest. Each law is used for the pass
    // that moves the same bytes, apart from the bits.
    kernels.front().kernel = "sign-error";
    kernels.back().kernel = "sign-magnitude";
  }
  add_two_hops(std::move(kernels), {pass("vote", bits + bits / group.ranks)}, bits, recipe);
  recipe.steps.push_back(last_step({pass("sign unpack", bits + b * n)}));
  recipe.steps.back().by_part = true;
  recipe.buffer_bytes = 2 * bits;
  return recipe;
}

}  // namespace

// This is signSGD with majority vote (Bernstein et al. 2019, arXiv 1810.05291).
Recipe majority_recipe(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                       const ReducingGroup& group, double b) {
  return voted(choice.feedback, elements_of(tensors), group, b);
}

// Distributed Lion, majority vote of the signs of updates (Liu et al. 2024, arXiv 2404.00438); its
// momentum is the optimizer's.
Recipe lion_recipe(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                   const ReducingGroup& group, double /*b*/) {
  return voted(choice.feedback, elements_of(tensors), group, kStateBytes);
}

// 1-bit SGD (Seide et al. 2014) gathers from all ranks the signs and, for each column of a matrix,
// the means of its positive and of its negative elements.
Recipe one_bit_sgd_recipe(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                          const ReducingGroup& group, double b) {
  const GradientBuffer buffer = gradient_buffer(tensors);
  const double n = buffer.elements();
  const double packed = n / 8 + 2 * kScaleBytes * buffer.columns;
  Recipe recipe;
  std::vector<Op> kernels;
  add_feedback(choice.feedback, n, b, kernels, recipe);
  kernels.push_back(pass("sign pack", b * n + packed));
  recipe.steps.push_back(all_gather_step(std::move(kernels), packed, group));
  recipe.steps.push_back(last_step({pass("sign unpack", group.ranks * packed + b * n)}));
  recipe.buffer_bytes = packed * (1 + group.ranks);
  return recipe;
}

// 1-bit Adam (Tang et al. 2021, arXiv 2102.02888), 1-bit LAMB (Li et al. 2021, arXiv 2104.06069):
// signs of the fp32 momentum, with error feedback on all ranks and again on the rank that reduces a
// part; the variance is frozen after the warm-up. Bytes per element: 12 to add the error, 4 for the
// scale, 4 to keep the new error. 0/1 Adam (Lu et al. 2022, arXiv 2202.06009) does so every `every`
// steps on average; its refreshes of the variance, at intervals that double, are too rare to count.
Recipe one_bit_adam_recipe(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                           const ReducingGroup& group, double /*b*/) {
  const double all = elements_of(tensors);
  const double every = choice.every > 0 ? choice.every : 1;
  const double n = all / every;
  const double bits = n / 8;
  const double part = n / group.ranks;
  Recipe recipe;
  add_two_hops({pass("sign error", 5 * kStateBytes * n + bits, 1 / every)},
               {pass("vote", bits + 3 * kStateBytes * part + part / 8, 1 / every)}, bits, recipe);
  recipe.steps.push_back(last_step({pass("sign unpack", bits + kStateBytes * n, 1 / every)}));
  for (RecipeStep& step : recipe.steps) {
    step.every = every;
    step.gathers_parts = false;  // the next step needs the whole momentum
  }
  recipe.state_bytes = kStateBytes * (all + all / group.ranks);
  recipe.buffer_bytes = 2 * all / 8;
  return recipe;
}

}  // namespace windtunnel

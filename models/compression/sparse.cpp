// k = density * N elements of the gradient are sent, with their indices if receivers cannot know
// them: a pair has b + 4 bytes (8 in fp32).
#include <algorithm>
#include <cmath>

#include "models/compression/recipe_parts.hpp"
#include "models/compression/recipes.hpp"

namespace windtunnel {
namespace {

constexpr double kSectorBytes = 32;  // the least that HBM and L2 move

double pair_bytes(double b) {
  return b + kIndexBytes;
}

// Reads pairs of index and value and writes the values to their places: 12 bytes each in fp32.
Op scatter_pairs(double k, double b) {
  return pass("scatter", (pair_bytes(b) + b) * k);
}

// Selects elements with `select`, gathers the pairs of all ranks and adds them: the time grows with
// P.
Recipe gathered(const CompressorChoice& choice, const std::vector<Op>& select, double elements,
                double k, const ReducingGroup& group, double b) {
  Recipe recipe;
  std::vector<Op> kernels;
  add_feedback(choice.feedback, elements, b, kernels, recipe);
  kernels.insert(kernels.end(), select.begin(), select.end());
  recipe.steps.push_back(all_gather_step(std::move(kernels), pair_bytes(b) * k, group));
  recipe.steps.push_back(last_step({scatter_pairs(group.ranks * k, b)}));
  recipe.buffer_bytes = pair_bytes(b) * k * (1 + group.ranks);
  return recipe;
}

// Makes the histogram of the values, then compacts them: two reads, and the pairs are written.
Op exact_selection(double elements, double k, double b, double starts = 1) {
  return pass("exact top-k", 2 * b * elements + pair_bytes(b) * k, starts);
}

Op compaction(double elements, double k, double b) {
  return pass("threshold", b * elements + pair_bytes(b) * k);
}

double rounds_of(const ReducingGroup& group) {
  return std::ceil(std::log2(std::max(group.ranks, 1)));
}

}  // namespace

// Aji and Heafield 2017 (arXiv 1704.05021), Lin et al. 2018: all-gather of P k pairs.
Recipe top_k_recipe(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                    const ReducingGroup& group, double b) {
  const double n = elements_of(tensors);
  const double k = choice.density * n;
  return gathered(choice, {exact_selection(n, k, b)}, n, k, group, b);
}

Recipe top_k_recipe(std::span<const double> densities, const CompressorChoice& choice,
                    std::span<const TensorShape> tensors, const ReducingGroup& group, double b) {
  double n = 0;
  double k = 0;
  double count = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    n += tensors[i].elements();
    k += densities[i] * tensors[i].elements();
    count += tensors[i].count;
  }
  return gathered(choice, {exact_selection(n, k, b, count)}, n, k, group, b);
}

// The threshold comes from earlier steps or from a Gaussian with the same spread (Shi et al. 2019,
// arXiv 1911.08772), so that one pass suffices.
Recipe threshold_recipe(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                        const ReducingGroup& group, double b) {
  const double n = elements_of(tensors);
  const double k = choice.density * n;
  return gathered(choice, {compaction(n, k, b)}, n, k, group, b);
}

// Deep Gradient Compression (Lin et al. 2018, arXiv 1712.01887) takes the threshold from a sample
// of 1 % and sends vectors uncompressed.
Recipe dgc_recipe(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                  const ReducingGroup& group, double b) {
  constexpr double kSampled = 0.01;
  const GradientBuffer buffer = gradient_buffer(tensors);
  const double n = buffer.matrix_elements;
  const double k = choice.density * n;
  Recipe recipe;
  if (n > 0) {
    recipe = gathered(choice, {exact_selection(kSampled * n, 0, b), compaction(n, k, b)}, n, k,
                      group, b);
  }
  add_dense(b * buffer.vector_elements, recipe);
  return recipe;
}

// HiTopKComm with MSTopK (Shi et al. 2021, arXiv 2010.10458): dense reduce-scatter in the node;
// across nodes the largest k/g of each part, found by 30 passes that count above thresholds; dense
// all-gather in the node.
Recipe ms_top_k_recipe(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                       const ReducingGroup& group, double b) {
  constexpr double kPasses = 30;
  const double all = elements_of(tensors);
  const double n = all / group.per_node();
  const double k = choice.density * n;
  Recipe recipe;
  const auto in_node = [&](std::vector<Op> kernels, CollectiveKind kind) {
    recipe.steps.push_back({.kernels = std::move(kernels),
                            .kind = kind,
                            .hop = ReduceHop::node,
                            .bytes = group.per_node() > 1 ? b * all : 0});
  };
  if (group.per_node() > 1) in_node({}, CollectiveKind::reduce_scatter);
  std::vector<Op> decode;
  if (group.nodes > 1) {
    std::vector<Op> kernels;
    add_feedback(choice.feedback, n, b, kernels, recipe);
    kernels.push_back(pass("count", kPasses * b * n + pair_bytes(b) * k, kPasses));
    recipe.steps.push_back({.kernels = std::move(kernels),
                            .kind = CollectiveKind::all_gather,
                            .hop = ReduceHop::across,
                            .bytes = pair_bytes(b) * k * group.nodes});
    decode = {scatter_pairs(group.nodes * k, b)};
    recipe.buffer_bytes = pair_bytes(b) * k * (1 + group.nodes);
  }
  in_node(std::move(decode), CollectiveKind::all_gather);
  return recipe;
}

// gTop-k (Shi et al. 2019, arXiv 1901.04359) takes log2 P rounds, in which two ranks merge messages
// of k pairs and keep the largest k, and then log2 P rounds to broadcast the result: 2 log2 P
// steps, 4 k log2 P numbers.
Recipe g_top_k_recipe(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                      const ReducingGroup& group, double b) {
  const double n = elements_of(tensors);
  const double k = choice.density * n;
  const double message = pair_bytes(b) * k;
  const Op merge = pass("merge", message * std::log2(std::max(k, 2.0)));
  Recipe recipe;
  std::vector<Op> kernels;
  add_feedback(choice.feedback, n, b, kernels, recipe);
  kernels.push_back(exact_selection(n, k, b));
  const double rounds = rounds_of(group);
  for (int i = 0; i < 2 * rounds; ++i) {
    recipe.steps.push_back(
        {.kernels = std::move(kernels), .kind = CollectiveKind::send_recv, .bytes = message});
    kernels = i < rounds ? std::vector<Op>{merge} : std::vector<Op>{};
  }
  kernels.push_back(scatter_pairs(k, b));
  recipe.steps.push_back(last_step(std::move(kernels)));
  recipe.buffer_bytes = 2 * message;
  return recipe;
}

// Ok-Topk (Li and Hoefler 2022, arXiv 2201.07598): a threshold that is exact every `every` steps;
// each rank reduces a part of the indices (2k numbers sent), the parts' largest are gathered (at
// most 4k): together at most 6k (P-1)/P.
Recipe ok_top_k_recipe(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                       const ReducingGroup& group, double b) {
  const double n = elements_of(tensors);
  const double k = choice.density * n;
  const double pairs = pair_bytes(b) * k;
  Recipe recipe;
  std::vector<Op> kernels;
  add_feedback(choice.feedback, n, b, kernels, recipe);
  kernels.push_back(compaction(n, k, b));
  kernels.push_back(pass("exact top-k", 2 * b * n / choice.every, 1 / choice.every));
  recipe.steps.push_back(
      {.kernels = std::move(kernels), .kind = CollectiveKind::all_to_all, .bytes = pairs});
  recipe.steps.push_back(
      {.kernels = {scatter_pairs(k, b), compaction(n / group.ranks, k / group.ranks, b)},
       .kind = CollectiveKind::all_gather,
       .bytes = 2 * pairs});
  recipe.steps.push_back(last_step({scatter_pairs(k, b)}));
  recipe.buffer_bytes = 4 * pairs;
  return recipe;
}

namespace {

// All ranks send the same elements, so no indices are sent and the values are summed.
Recipe seeded(const CompressorChoice& choice, double n, double moved_bytes, double b) {
  const double k = choice.density * n;
  Recipe recipe;
  std::vector<Op> kernels;
  add_feedback(choice.feedback, n, b, kernels, recipe);
  kernels.push_back(pass("gather", (moved_bytes + b) * k));
  recipe.steps.push_back(all_reduce_step(std::move(kernels), b * k));
  recipe.steps.push_back(last_step({pass("scatter", (b + moved_bytes) * k)}));
  recipe.buffer_bytes = b * k;
  return recipe;
}

}  // namespace

// Random-k by a common seed (Konecny et al. 2016, arXiv 1610.05492; Stich et al. 2018): a sector is
// moved for each element.
Recipe random_k_recipe(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                       const ReducingGroup& /*group*/, double b) {
  return seeded(choice, elements_of(tensors), std::max(kSectorBytes, b), b);
}

// Random blocks (Vogels et al. 2019, arXiv 1905.13727, section 4.2) fill whole sectors of memory.
Recipe random_block_recipe(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                           const ReducingGroup& /*group*/, double b) {
  return seeded(choice, elements_of(tensors), b, b);
}

}  // namespace windtunnel

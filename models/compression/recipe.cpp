#include "models/compression/recipe.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/compression/compressors.hpp"
#include "models/compression/recipe_parts.hpp"
#include "models/compression/recipes.hpp"

namespace windtunnel {
namespace {

const CompressorKind& kind_of(const CompressorChoice& choice) {
  try {
    return compressor_kind(choice);
  } catch (const Error& error) {
    throw Error(choice.where, error.what());
  }
}

// The choice with its usual numbers; throws Error if one is out of range.
CompressorChoice checked(const CompressorChoice& choice) {
  kind_of(choice);
  check_numbers(choice);
  return with_usual(choice);
}

}  // namespace

double wire_bytes(const Recipe& recipe, const ReducingGroup& group) {
  double bytes = 0;
  for (const RecipeStep& step : recipe.steps) {
    const double members = step.hop == ReduceHop::node     ? group.per_node()
                           : step.hop == ReduceHop::across ? group.nodes
                                                           : group.ranks;
    const double passes = step.kind == CollectiveKind::all_reduce ? 2 : 1;
    const bool all = step.kind == CollectiveKind::send_recv && members > 1;
    bytes += (all ? 1 : passes * (members - 1) / members) * step.bytes;
  }
  return bytes;
}

double kernel_bytes(const Recipe& recipe) {
  double bytes = 0;
  for (const RecipeStep& step : recipe.steps) {
    for (const Op& op : step.kernels) bytes += op.bytes;
  }
  return bytes;
}

std::vector<TensorShape> divided(std::vector<TensorShape> shapes, double members, bool whole) {
  double share = 1 / members;
  if (whole) {
    double all = 0;
    double largest = 0;
    for (const TensorShape& shape : shapes) {
      all += shape.elements();
      largest = std::max(largest, shape.elements() / shape.count);
    }
    if (all > 0) share = std::max(share, std::min(1.0, largest / all));
  }
  for (TensorShape& shape : shapes) shape.count *= share;
  return shapes;
}

Recipe dense_recipe(const CompressorChoice& /*choice*/, std::span<const TensorShape> tensors,
                    const ReducingGroup& /*group*/, double b) {
  Recipe recipe;
  add_dense(b * elements_of(tensors), recipe);
  return recipe;
}

Recipe make_recipe(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                   const ReducingGroup& group, double element_bytes) {
  const CompressorChoice full = checked(choice);
  return kind_of(full).recipe(full, tensors, group, element_bytes);
}

double run_wire_bytes(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                      const ReducingGroup& group, double element_bytes) {
  const CompressorChoice full = checked(choice);
  const double compressed = wire_bytes(make_recipe(full, tensors, group, element_bytes), group);
  const double dense = wire_bytes(dense_recipe(full, tensors, group, element_bytes), group);
  return full.warmup * dense + (1 - full.warmup) * compressed;
}

void check_compressor(const CompressorChoice& choice, std::span<const TensorShape> tensors) {
  const CompressorChoice full = checked(choice);
  double largest = 0;
  for (const TensorShape& tensor : tensors) {
    if (tensor.matrix()) largest = std::max(largest, std::min(tensor.rows, tensor.columns));
  }
  if (full.rank <= largest || largest == 0) return;
  throw Error::about({"communication.compressor.rank", "communication.compressor", "compress"},
                     "compressor {}: rank {:g} is above the {:g} rows or columns of the largest "
                     "gradient; choose a smaller one",
                     choice.name, full.rank, largest);
}

}  // namespace windtunnel

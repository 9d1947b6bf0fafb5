#include "models/cost/chunk/embedding_exchange.hpp"

#include <cmath>

namespace windtunnel {
namespace {

constexpr double kRowNumberBytes = 8;

Op copy_op(double bytes) {
  Op op;
  op.name = "embedding rows";
  op.bytes = 2 * bytes;
  return op;
}

}  // namespace

Recipe embedding_recipe(EmbeddingExchange exchange, const TensorShape& table,
                        const ReducingGroup& group, double element_bytes) {
  const double rows = table.filled * table.count * table.rows;
  const double row_bytes = element_bytes * table.columns;
  const Op gather = copy_op(rows * row_bytes);
  Recipe recipe;
  switch (exchange) {
    case EmbeddingExchange::dense:
      recipe.steps = {{.kernels = {}, .bytes = element_bytes * table.elements()}};
      break;
    case EmbeddingExchange::all_gather: {
      const double bytes = group.ranks * rows * (row_bytes + kRowNumberBytes);
      recipe.steps = {{.kernels = {gather}, .kind = CollectiveKind::all_gather, .bytes = bytes},
                      {.kernels = {copy_op(bytes)}}};
      recipe.buffer_bytes = bytes;
      break;
    }
    case EmbeddingExchange::all_to_all:
      for (int way = 0; way < 2; ++way) {
        recipe.steps.push_back(
            {.kernels = {gather}, .kind = CollectiveKind::all_to_all, .bytes = rows * row_bytes});
      }
      recipe.steps.push_back({.kernels = {gather}});
      recipe.buffer_bytes = rows * row_bytes;
      break;
  }
  return recipe;
}

double filled_rows(double rows, double tokens) {
  return 1 - std::pow(1 - 1 / rows, tokens);
}

}  // namespace windtunnel

// FLOPs of the kernels of a recipe, which tests hold to the formulas of papers.
#pragma once

#include "models/compression/recipe.hpp"

namespace windtunnel {

inline double kernel_flops(const Recipe& recipe) {
  double flops = 0;
  for (const RecipeStep& step : recipe.steps) {
    for (const Op& op : step.kernels) flops += op.flops;
  }
  return flops;
}

}  // namespace windtunnel

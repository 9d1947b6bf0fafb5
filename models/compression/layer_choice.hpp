// L-GreCo (Markov et al. 2023, arXiv 2210.17357): chooses how much each layer is compressed, so
// that the fewest bytes are sent while the total error of all layers stays within a budget. This is
// a knapsack problem, solved by dynamic programming over equal steps of the budget.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "models/compression/recipe.hpp"

namespace windtunnel {

struct LayerOption {
  double cost = 0;   // bytes
  double error = 0;  // squared
};

// Chooses an option for each layer with the least total cost under a total error of `budget`.
// Errors are rounded up to a step, so the budget holds and the cost is at most that of the best
// choice under budget * (1 - layers / steps). If no choice keeps the budget, each layer gets the
// option with the least error.
std::vector<int> choose_by_layer(std::span<const std::vector<LayerOption>> layers, double budget,
                                 int steps);

// Methods whose parameters L-GreCo can choose.
std::span<const std::string_view> layer_choice_bases();

// Whether the table's layer has the shape of this tensor or of its transpose.
bool is_of_shape(const LayerErrors& errors, const TensorShape& tensor);

// Holds the parameter that is chosen for each layer by the error model below.
struct LayerNumbers {
  // One entry for equal shapes, since they get the same choice, or one for each measured layer.
  std::vector<TensorShape> layers = {};
  // The base decides what the number means: rank (infinite: dense), density or bits.
  std::vector<double> numbers = {};
  double error = 0;          // squared error / squared gradient
  double uniform_error = 0;  // of the base with its default parameter everywhere
};

// For a shape with measured errors (CompressorChoice::errors) the tensors are divided evenly among
// its measured layers, and the options are the measured parameters or no compression. For other
// layers the errors are assumed: all elements have the same mean square, the squares of singular
// values (and of elements sorted by size) fall as 1/i, and quantisation errors are those of a
// Gaussian in blocks scaled by their maximum. Throws Error if a layer's measured errors lack the
// base's default parameter.
LayerNumbers choose_numbers(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                            double element_bytes);

}  // namespace windtunnel

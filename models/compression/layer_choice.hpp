// L-GreCo (Markov et al. 2023, arXiv 2210.17357): how much each layer is compressed, so that least
// is sent while the errors of all layers together stay within a budget: a knapsack, solved by
// dynamic programming over the budget in equal steps.
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

// Chooses an option for each layer: the least total cost whose errors add up to at most `budget`.
// Errors are rounded up to a step, so the budget holds and the cost is at most that of the best
// choice under budget * (1 - layers / steps). If no choice keeps the budget, each layer gets its
// option of least error.
std::vector<int> choose_by_layer(std::span<const std::vector<LayerOption>> layers, double budget,
                                 int steps);

// Methods that it can choose numbers of.
std::span<const std::string_view> layer_choice_bases();

// Whether a layer of that table is one of these tensors, or its transpose.
bool is_of_shape(const LayerErrors& errors, const TensorShape& tensor);

// What each layer could use, and what it chose, by the error model below.
struct LayerNumbers {
  // Equal shapes once, as they choose alike, or once for each of their measured layers.
  std::vector<TensorShape> layers = {};
  std::vector<double> numbers = {};  // rank (infinite: dense), density or bits, as the base has it
  double error = 0;                  // squared, relative to the gradient's
  double uniform_error = 0;          // of the base with its usual number everywhere
};

// Errors are those that the choice has of a layer's shape (CompressorChoice::errors), of as many
// layers each as there are tensors of that shape for it; such a layer chooses among the numbers
// that were measured, or goes without loss. Of other layers no gradients are at hand, so their
// errors are assumed: all elements have the same mean square, the squares of singular values (and
// of elements in order of size) fall as 1/i, quantisation errors are those of a Gaussian in blocks
// scaled by their maximum. Throws Error where the measured errors of a layer lack the base's usual
// number.
LayerNumbers choose_numbers(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                            double element_bytes);

}  // namespace windtunnel

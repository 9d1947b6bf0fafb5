#include "models/compression/layer_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "models/base/units.hpp"
#include "models/compression/compressors.hpp"
#include "models/compression/recipe_parts.hpp"
#include "models/compression/recipes.hpp"

namespace windtunnel {
namespace {

constexpr std::array<std::string_view, 3> kBases = {"powersgd", "topk", "qsgd"};
constexpr std::array<double, 15> kRanks = {1,  2,  3,  4,  5,  6,   8,        12,
                                           16, 24, 32, 48, 64, 128, kInfinity};
constexpr std::array<double, 10> kDensities = {0.0001, 0.0003, 0.001, 0.003, 0.01,
                                               0.03,   0.1,    0.3,   0.5,   1};
constexpr std::array<double, 9> kBits = {2, 3, 4, 5, 6, 7, 8, 16, 32};

// 1 + 1/2 + ... + 1/x, continued to all x.
double harmonic(double x) {
  constexpr double kEuler = 0.57721566490153286;
  if (x < 1) return std::max(x, 0.0);
  return std::log(x) + kEuler + 1 / (2 * x) - 1 / (12 * x * x);
}

// The share of a sum of squares that is lost if only the first `kept` of `all` terms are kept and
// terms fall as 1/i.
double tail_share(double kept, double all) {
  return kept >= all ? 0 : 1 - harmonic(kept) / harmonic(all);
}

// The effect of a base with a parameter on a layer; the error is relative to the layer.
struct Base {
  std::span<const double> numbers;
  double usual;
  LayerOption (*option)(const TensorShape& layer, double number, double b, double block);
};

LayerOption low_rank_option(const TensorShape& layer, double rank, double b, double /*block*/) {
  if (!low_rank_pays(layer, rank)) return {b * layer.elements(), 0};
  return {b * (layer.rows + layer.columns) * rank * layer.count,
          tail_share(rank, std::min(layer.rows, layer.columns))};
}

LayerOption sparse_option(const TensorShape& layer, double density, double b, double /*block*/) {
  const double each = layer.elements() / layer.count;
  return {(b + kIndexBytes) * density * layer.elements(), tail_share(density * each, each)};
}

// Quantises in steps of 2 M / (2^bits - 2). The square of a block's maximum M is about 2 ln(block)
// times the mean square.
LayerOption quantised_option(const TensorShape& layer, double bits, double /*b*/, double block) {
  const double levels = std::exp2(bits - 1) - 1;
  const double error = 2 * std::log(block) / (12 * levels * levels);
  return {layer.elements() * bits / 8, std::min(1.0, error)};
}

Base base_of(const CompressorChoice& usual) {
  if (usual.name == "powersgd") return {kRanks, usual.rank, low_rank_option};
  if (usual.name == "topk") return {kDensities, usual.density, sparse_option};
  if (usual.name == "qsgd") return {kBits, usual.bits, quantised_option};
  throw Error(unknown_name("base", usual.name, {kBases.begin(), kBases.end()}));
}

CompressorChoice usual_of(const CompressorChoice& choice) {
  CompressorChoice usual = {.name = choice.base, .feedback = choice.feedback};
  usual.where = choice.where;
  return with_usual(usual);
}

std::vector<TensorShape> merged(std::span<const TensorShape> tensors) {
  std::vector<TensorShape> layers;
  for (const TensorShape& tensor : tensors) {
    const auto same = std::ranges::find_if(layers, [&](const TensorShape& other) {
      return other.rows == tensor.rows && other.columns == tensor.columns;
    });
    if (same == layers.end()) {
      layers.push_back(tensor);
    } else {
      same->count += tensor.count;
    }
  }
  return layers;
}

// Layers that get the same choice. `measured` null: errors are assumed.
struct Chooser {
  TensorShape layer;
  const LayerErrors* measured = nullptr;
};

std::vector<Chooser> choosers(const CompressorChoice& choice,
                              std::span<const TensorShape> tensors) {
  std::vector<Chooser> all;
  for (const TensorShape& layer : merged(tensors)) {
    const std::size_t first = all.size();
    if (choice.errors != nullptr) {
      for (const LayerErrors& errors : *choice.errors) {
        if (is_of_shape(errors, layer)) all.push_back({layer, &errors});
      }
    }
    if (all.size() == first) all.push_back({layer});
    for (std::size_t i = first; i < all.size(); ++i) {
      all[i].layer.count /= static_cast<double>(all.size() - first);
    }
  }
  return all;
}

double measured_error(const LayerErrors& errors, double number) {
  for (const auto& [known, error] : errors.by_number) {
    if (known == number) return error;
  }
  throw Error(fmt::format(
      "layer '{}' lacks a measured error for {:g}, the default number of the base compressor",
      errors.layer, number));
}

// A whole number of steps, rounded up; the rounding error of the division does not add a step.
double steps_of(double error, double budget, int steps) {
  return error <= 0 ? 0 : std::ceil(error * steps / budget - 1e-9);
}

std::vector<int> least_errors(std::span<const std::vector<LayerOption>> layers) {
  std::vector<int> chosen;
  for (const std::vector<LayerOption>& options : layers) {
    const auto least = std::ranges::min_element(options, {}, &LayerOption::error);
    chosen.push_back(static_cast<int>(least - options.begin()));
  }
  return chosen;
}

}  // namespace

std::vector<int> choose_by_layer(std::span<const std::vector<LayerOption>> layers, double budget,
                                 int steps) {
  const auto width = static_cast<size_t>(steps) + 1;
  // best[e]: least cost of the layers so far with errors of at most e steps.
  std::vector<double> best(width, 0);
  std::vector<double> next(width);
  std::vector<std::uint8_t> taken(layers.size() * width);
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    std::ranges::fill(next, kInfinity);
    std::uint8_t* const row = taken.data() + layer * width;
    for (size_t i = 0; i < layers[layer].size(); ++i) {
      const LayerOption& option = layers[layer][i];
      const double share = steps_of(option.error, budget, steps);
      if (!(share <= steps)) continue;
      const auto used = static_cast<size_t>(share);
      for (size_t e = used; e < width; ++e) {
        const double cost = best[e - used] + option.cost;
        if (cost >= next[e]) continue;
        next[e] = cost;
        row[e] = static_cast<std::uint8_t>(i);
      }
    }
    best.swap(next);
  }
  if (!(best.back() < kInfinity)) return least_errors(layers);
  std::vector<int> chosen(layers.size());
  size_t left = width - 1;
  for (size_t layer = layers.size(); layer-- > 0;) {
    const int i = chosen[layer] = taken[layer * width + left];
    left -= static_cast<size_t>(steps_of(layers[layer][i].error, budget, steps));
  }
  return chosen;
}

std::span<const std::string_view> layer_choice_bases() {
  return kBases;
}

bool is_of_shape(const LayerErrors& errors, const TensorShape& tensor) {
  return (errors.rows == tensor.rows && errors.columns == tensor.columns) ||
         (errors.rows == tensor.columns && errors.columns == tensor.rows);
}

LayerNumbers choose_numbers(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                            double element_bytes) {
  const CompressorChoice usual = usual_of(choice);
  const Base base = base_of(usual);
  const std::vector<Chooser> layers = choosers(choice, tensors);
  LayerNumbers result;
  std::vector<std::vector<LayerOption>> options;
  std::vector<std::vector<double>> numbers;
  double uniform_cost = 0;
  const double all = elements_of(tensors);
  const auto option_of = [&](const Chooser& chooser, double number) {
    const TensorShape& layer = chooser.layer;
    LayerOption option = base.option(layer, number, element_bytes, usual.block);
    const bool lossless = option.error == 0 || number == base.numbers.back();
    if (chooser.measured != nullptr && !lossless) {
      option.error = measured_error(*chooser.measured, number);
    }
    option.error *= layer.elements() / all;
    return option;
  };
  for (const Chooser& chooser : layers) {
    result.layers.push_back(chooser.layer);
    const LayerOption uniform = option_of(chooser, base.usual);
    uniform_cost += uniform.cost;
    result.uniform_error += uniform.error;
    std::vector<double>& own = numbers.emplace_back(base.numbers.begin(), base.numbers.end());
    if (chooser.measured != nullptr) {
      own.clear();
      for (const auto& [number, error] : chooser.measured->by_number) own.push_back(number);
      if (own.back() != base.numbers.back()) own.push_back(base.numbers.back());
    }
    std::vector<LayerOption>& row = options.emplace_back();
    for (const double number : own) row.push_back(option_of(chooser, number));
  }
  const double budget = choice.error * choice.error * result.uniform_error;
  const std::vector<int> chosen =
      choose_by_layer(options, budget, std::max(400, 20 * static_cast<int>(layers.size())));
  double cost = 0;
  for (size_t i = 0; i < chosen.size(); ++i) {
    const LayerOption& option = options[i][chosen[i]];
    cost += option.cost;
    result.error += option.error;
    result.numbers.push_back(numbers[i][chosen[i]]);
  }
  // Errors were rounded up to steps, so the search may have overlooked that the usual choice fits.
  if (result.uniform_error <= budget && uniform_cost < cost) {
    result.numbers.assign(result.layers.size(), base.usual);
    result.error = result.uniform_error;
  }
  return result;
}

Recipe l_greco_recipe(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                      const ReducingGroup& group, double b) {
  const LayerNumbers chosen = choose_numbers(choice, tensors, b);
  const CompressorChoice usual = usual_of(choice);
  if (usual.name == "powersgd") return powersgd_recipe(chosen.numbers, usual, chosen.layers, b);
  if (usual.name == "topk") {
    return top_k_recipe(chosen.numbers, usual, chosen.layers, group, b);
  }
  return quantised_recipe(chosen.numbers, usual, chosen.layers, group, b);
}

}  // namespace windtunnel

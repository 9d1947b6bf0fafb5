#include "models/compression/layer_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/base/random.hpp"
#include "models/compression/compressors.hpp"

namespace windtunnel {
namespace {

using Layers = std::vector<std::vector<LayerOption>>;

struct Total {
  double cost = 0;
  double error = 0;
};

Total total_of(const Layers& layers, const std::vector<int>& chosen) {
  Total total;
  for (size_t i = 0; i < layers.size(); ++i) {
    total.cost += layers[i][chosen[i]].cost;
    total.error += layers[i][chosen[i]].error;
  }
  return total;
}

// Every combination of options.
double least_cost(const Layers& layers, double budget, size_t layer = 0, double cost = 0) {
  if (budget < -1e-9) return std::numeric_limits<double>::infinity();
  if (layer == layers.size()) return cost;
  double least = std::numeric_limits<double>::infinity();
  for (const LayerOption& option : layers[layer]) {
    least =
        std::min(least, least_cost(layers, budget - option.error, layer + 1, cost + option.cost));
  }
  return least;
}

Layers drawn(RandomStream& random, bool whole_errors) {
  Layers layers(1 + random.below(6));
  for (std::vector<LayerOption>& options : layers) {
    options.resize(1 + random.below(5));
    for (LayerOption& option : options) {
      const double error = 20 * random.uniform();
      option = {100 * random.uniform(), whole_errors ? std::floor(error) : error};
    }
  }
  return layers;
}

// Errors in whole steps of the budget: as good as every combination tried.
TEST(LayerChoice, IsTheBestOfAllCombinations) {
  RandomStream random(11, RandomPurpose::test, 0);
  int within = 0;
  for (int i = 0; i < 500; ++i) {
    const Layers layers = drawn(random, true);
    const int budget = 1 + static_cast<int>(random.below(60));
    const double best = least_cost(layers, budget);
    const Total got = total_of(layers, choose_by_layer(layers, budget, budget));
    if (std::isinf(best)) {
      EXPECT_GT(got.error, budget);  // the least that there is
      continue;
    }
    ++within;
    EXPECT_LE(got.error, budget);
    EXPECT_NEAR(got.cost, best, 1e-9);
  }
  EXPECT_GT(within, 100);
}

// Any errors: never above the budget, and no worse than the best under a budget shortened by a step
// for each layer.
TEST(LayerChoice, KeepsTheBudgetOfAnyErrors) {
  RandomStream random(12, RandomPurpose::test, 0);
  constexpr int kSteps = 200;
  for (int i = 0; i < 300; ++i) {
    const Layers layers = drawn(random, false);
    const double budget = 60 * random.uniform();
    const double shortened = budget * (1 - static_cast<double>(layers.size()) / kSteps);
    const double bound = least_cost(layers, shortened);
    if (std::isinf(bound)) continue;
    const Total got = total_of(layers, choose_by_layer(layers, budget, kSteps));
    EXPECT_LE(got.error, budget * (1 + 1e-9));
    EXPECT_LE(got.cost, bound + 1e-9);
    EXPECT_GE(got.cost, least_cost(layers, budget) - 1e-9);
  }
}

// Layers of very different shape, as in ResNet-50.
const std::vector<TensorShape>& network() {
  static const std::vector<TensorShape> table = {
      {.rows = 64, .columns = 147},    {.rows = 64, .columns = 576, .count = 3},
      {.rows = 256, .columns = 64},    {.rows = 512, .columns = 4608, .count = 3},
      {.rows = 1000, .columns = 2048}, {.rows = 2048, .columns = 512, .count = 3},
      {.columns = 2048, .count = 50},
  };
  return table;
}
constexpr ReducingGroup kGroup = {32, 4};

TEST(LayerChoice, SendsNoMoreThanItsBaseAtTheSameError) {
  for (const std::string_view base : layer_choice_bases()) {
    CompressorChoice choice = {.name = "lgreco"};
    choice.base = base;
    const LayerNumbers chosen = choose_numbers(with_usual(choice), network(), 4);
    EXPECT_LE(chosen.error, chosen.uniform_error) << base;
    EXPECT_GT(chosen.error, 0.5 * chosen.uniform_error) << base;
    const double own = wire_bytes(make_recipe(choice, network(), kGroup, 4), kGroup);
    const CompressorChoice uniform = {.name = std::string(base)};
    EXPECT_LE(own, wire_bytes(make_recipe(uniform, network(), kGroup, 4), kGroup)) << base;
  }
}

TEST(LayerChoice, MoreErrorIsFewerBytes) {
  for (const std::string_view base : layer_choice_bases()) {
    double last = std::numeric_limits<double>::infinity();
    for (const double error : {0.5, 0.9, 1.0, 1.05, 1.2}) {
      CompressorChoice choice = {.name = "lgreco", .error = error};
      choice.base = base;
      const double bytes = wire_bytes(make_recipe(choice, network(), kGroup, 4), kGroup);
      EXPECT_LE(bytes, last) << base << " " << error;
      last = bytes;
    }
    const CompressorChoice uniform = {.name = std::string(base)};
    EXPECT_LT(last, wire_bytes(make_recipe(uniform, network(), kGroup, 4), kGroup)) << base;
  }
}

// Ranks follow N / (n + m), what a rank of a layer saves of the error for its bytes.
TEST(LayerChoice, LayersThatGainMostFromARankGetIt) {
  CompressorChoice choice = {.name = "lgreco"};
  const LayerNumbers chosen = choose_numbers(with_usual(choice), network(), 4);
  std::vector<std::pair<double, double>> ranks;
  for (size_t i = 0; i < chosen.layers.size(); ++i) {
    const TensorShape& layer = chosen.layers[i];
    if (layer.matrix()) {
      ranks.emplace_back(layer.rows * layer.columns / (layer.rows + layer.columns),
                         chosen.numbers[i]);
    }
  }
  std::ranges::sort(ranks);
  EXPECT_LT(ranks.front().second, ranks.back().second);
}

TEST(LayerChoice, UnknownBasesAreRefused) {
  CompressorChoice choice = {.name = "lgreco"};
  choice.base = "topkk";
  try {
    make_recipe(choice, network(), kGroup, 4);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "unknown compressor 'topkk'; did you mean 'topk'?");
  }
}

}  // namespace
}  // namespace windtunnel

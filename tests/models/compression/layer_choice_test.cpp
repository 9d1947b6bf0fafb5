#include "models/compression/layer_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "models/base/random.hpp"
#include "models/compression/compressors.hpp"
#include "models/compression/recipe_parts.hpp"
#include "tests/support/error_of.hpp"

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

// Tries every combination of options.
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

// If errors are whole steps of the budget, the choice must cost as little as the best combination.
TEST(LayerChoice, IsTheBestOfAllCombinations) {
  RandomStream random(11, RandomPurpose::test, 0);
  int within = 0;
  for (int i = 0; i < 500; ++i) {
    const Layers layers = drawn(random, true);
    const int budget = 1 + static_cast<int>(random.below(60));
    const double best = least_cost(layers, budget);
    const Total got = total_of(layers, choose_by_layer(layers, budget, budget));
    if (std::isinf(best)) {
      EXPECT_GT(got.error, budget);  // the least possible error
      continue;
    }
    ++within;
    EXPECT_LE(got.error, budget);
    EXPECT_NEAR(got.cost, best, 1e-9);
  }
  EXPECT_GT(within, 100);
}

// For any errors the choice stays within the budget, and costs no more than the best combination
// under a budget that is one step per layer smaller.
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

// The layers differ in shape as much as ResNet-50's.
const std::vector<TensorShape>& network() {
  static const std::vector<TensorShape> table = {
      {.rows = 64, .columns = 147},    {.rows = 64, .columns = 576, .count = 3},
      {.rows = 256, .columns = 64},    {.rows = 512, .columns = 4608, .count = 3},
      {.rows = 1000, .columns = 2048}, {.rows = 2048, .columns = 512, .count = 3},
      {.columns = 2048, .count = 50},
  };
  return table;
}
constexpr ReducingGroup kChoiceGroup = {32, 4};

TEST(LayerChoice, SendsNoMoreThanItsBaseAtTheSameError) {
  for (const std::string_view base : layer_choice_bases()) {
    CompressorChoice choice = {.name = "lgreco"};
    choice.base = base;
    const LayerNumbers chosen = choose_numbers(with_usual(choice), network(), 4);
    EXPECT_LE(chosen.error, chosen.uniform_error) << base;
    EXPECT_GT(chosen.error, 0.5 * chosen.uniform_error) << base;
    const double own = wire_bytes(make_recipe(choice, network(), kChoiceGroup, 4), kChoiceGroup);
    const CompressorChoice uniform = {.name = std::string(base)};
    EXPECT_LE(own, wire_bytes(make_recipe(uniform, network(), kChoiceGroup, 4), kChoiceGroup))
        << base;
  }
}

TEST(LayerChoice, MoreErrorIsFewerBytes) {
  for (const std::string_view base : layer_choice_bases()) {
    double last = std::numeric_limits<double>::infinity();
    for (const double error : {0.5, 0.9, 1.0, 1.05, 1.2}) {
      CompressorChoice choice = {.name = "lgreco", .error = error};
      choice.base = base;
      const double bytes =
          wire_bytes(make_recipe(choice, network(), kChoiceGroup, 4), kChoiceGroup);
      EXPECT_LE(bytes, last) << base << " " << error;
      last = bytes;
    }
    const CompressorChoice uniform = {.name = std::string(base)};
    EXPECT_LT(last, wire_bytes(make_recipe(uniform, network(), kChoiceGroup, 4), kChoiceGroup))
        << base;
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
  EXPECT_EQ(error_of([&] { make_recipe(choice, network(), kChoiceGroup, 4); }),
            "unknown compressor 'topkk'; did you mean 'topk'?");
}

// Sixteen matrices of one shape under top-k: three lose most of their norm and gain from every
// further element, the others lose hardly anything.
std::shared_ptr<const std::vector<LayerErrors>> unlike_layers() {
  auto layers = std::make_shared<std::vector<LayerErrors>>();
  for (int layer = 0; layer < 16; ++layer) {
    LayerErrors& errors = layers->emplace_back();
    errors = {"layer " + std::to_string(layer), 1024, 4096, {}};
    for (const double density : {0.0001, 0.0003, 0.001, 0.003, 0.01}) {
      errors.by_number.emplace_back(
          density, layer < 3 ? std::exp(-density / 0.002) : 0.01 * std::exp(-density / 0.0001));
    }
  }
  return layers;
}

// Choosing a density per layer sends several times fewer bytes than one density for all, at no
// larger error. (A single density of 0.0003 would lose 3 x 0.86 / 16.)
TEST(LayerChoice, MeasuredLayersThatDifferSendSeveralTimesLess) {
  const std::vector<TensorShape> tensors = {{.rows = 1024, .columns = 4096, .count = 16}};
  const auto errors = unlike_layers();
  CompressorChoice choice = {.name = "lgreco"};
  choice.base = "topk";
  choice.errors = errors;
  const LayerNumbers chosen = choose_numbers(with_usual(choice), tensors, 4);
  ASSERT_EQ(chosen.layers.size(), 16U);
  EXPECT_NEAR(chosen.uniform_error, (3 * std::exp(-0.5) + 0.13 * std::exp(-10)) / 16, 1e-12);
  EXPECT_LE(chosen.error, chosen.uniform_error);
  double error = 0;
  for (std::size_t i = 0; i < chosen.layers.size(); ++i) {
    EXPECT_EQ(chosen.layers[i].count, 1);
    const auto& known = (*errors)[i].by_number;
    const auto at = std::ranges::find(known, chosen.numbers[i], &std::pair<double, double>::first);
    ASSERT_NE(at, known.end());
    error += at->second / 16;
  }
  EXPECT_NEAR(error, chosen.error, 1e-12);
  const double uniform =
      wire_bytes(make_recipe({.name = "topk"}, tensors, kChoiceGroup, 4), kChoiceGroup);
  const double own = wire_bytes(make_recipe(choice, tensors, kChoiceGroup, 4), kChoiceGroup);
  RecordProperty("ratio", std::to_string(uniform / own));
  EXPECT_GT(uniform / own, 2.5);
  // Without the table of errors all sixteen layers get the same choice.
  choice.errors = nullptr;
  EXPECT_EQ(choose_numbers(with_usual(choice), tensors, 4).layers.size(), 1U);
  EXPECT_LT(uniform / wire_bytes(make_recipe(choice, tensors, kChoiceGroup, 4), kChoiceGroup), 1.1);
}

// The table's layers of a shape stand for equal numbers of the tensors of that shape; a transpose
// counts as the same shape; other shapes have the assumed errors.
TEST(LayerChoice, TablesAreMatchedByShape) {
  CompressorChoice choice = with_usual({.name = "lgreco"});
  choice.errors = std::make_shared<const std::vector<LayerErrors>>(
      std::vector<LayerErrors>{{"a", 512, 256, {{4, 0.5}}}, {"b", 256, 512, {{1, 0.2}, {4, 0.1}}}});
  const std::vector<TensorShape> tensors = {{.rows = 256, .columns = 512, .count = 6},
                                            {.rows = 1024, .columns = 1024, .count = 2}};
  const LayerNumbers chosen = choose_numbers(choice, tensors, 4);
  ASSERT_EQ(chosen.layers.size(), 3U);
  EXPECT_EQ(chosen.layers[0].count, 3);
  EXPECT_EQ(chosen.layers[1].count, 3);
  EXPECT_EQ(chosen.layers[2].count, 2);
  const double measured = 3 * 256 * 512 * 0.6;
  choice.errors = nullptr;
  const std::vector<TensorShape> others = {tensors[1]};
  const double assumed = choose_numbers(choice, others, 4).uniform_error * tensors[1].elements();
  EXPECT_NEAR(chosen.uniform_error, (measured + assumed) / elements_of(tensors), 1e-12);
}

TEST(LayerChoice, TablesWithoutTheUsualNumberAreRefused) {
  CompressorChoice choice = with_usual({.name = "lgreco"});
  choice.errors = std::make_shared<const std::vector<LayerErrors>>(
      std::vector<LayerErrors>{{"a", 256, 512, {{1, 0.5}}}});
  const std::vector<TensorShape> tensors = {{.rows = 256, .columns = 512}};
  EXPECT_THROW(choose_numbers(choice, tensors, 4), Error);
}

}  // namespace
}  // namespace windtunnel

#include "models/compression/recipe.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "models/base/random.hpp"
#include "models/compression/compressors.hpp"
#include "tests/models/compression/kernel_flops.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

// A random buffer, group and choice, with the sums that the formulas consist of.
struct Draw {
  std::vector<TensorShape> layer_tensors;
  ReducingGroup group;
  double b = 4;
  double rank = 1;
  double density = 0.01;
  double bits = 4;
  double block = 64;
  double every = 1;

  double elements = 0;
  double columns = 0;  // a vector counts as one

  double p() const { return group.ranks; }
  double k() const { return density * elements; }
  double ring() const { return (p() - 1) / p(); }
};

Draw draw(RandomStream& random, double b) {
  Draw d;
  d.b = b;
  d.group.nodes = 1 + static_cast<int>(random.below(9));
  d.group.ranks = d.group.nodes * (1 + static_cast<int>(random.below(8)));
  if (d.group.ranks == 1) d.group = {2, 2};
  d.rank = 1 + static_cast<double>(random.below(8));
  d.density = std::pow(10, -4 * random.uniform());
  d.bits = 2 + static_cast<double>(random.below(7));
  d.block = std::exp2(3 + static_cast<double>(random.below(8)));
  d.every = 1 + static_cast<double>(random.below(64));
  const auto count = 1 + random.below(12);
  for (std::uint64_t i = 0; i < count; ++i) {
    TensorShape t;
    t.rows = random.uniform() < 0.3 ? 0 : 1 + static_cast<double>(random.below(3000));
    t.columns = 1 + static_cast<double>(random.below(3000));
    t.count = 1 + static_cast<double>(random.below(4));
    t.filled = random.uniform() < 0.3 ? random.uniform() : 1;
    d.layer_tensors.push_back(t);
    const double size = t.count * (t.rows == 0 ? 1 : t.rows) * t.columns;
    d.elements += size;
    d.columns += t.rows > 1 && t.columns > 1 ? t.count * t.columns : t.count;
  }
  return d;
}

// Sums over the matrices for which low-rank factors pay; `dense` counts the elements of the rest.
struct LowRankSums {
  double elements = 0;       // n m
  double left = 0;           // n r
  double right = 0;          // m r
  double multiplied = 0;     // n m r
  double left_squared = 0;   // n r^2
  double right_squared = 0;  // m r^2
  double dense = 0;

  explicit LowRankSums(const Draw& d) {
    for (const TensorShape& t : d.layer_tensors) {
      const double n = t.rows;
      const double m = t.columns;
      if (n < 2 || m < 2 || 2 * (n + m) * d.rank >= n * m) {
        dense += t.count * (n == 0 ? 1 : n) * m;
        continue;
      }
      elements += t.count * n * m;
      left += t.count * n * d.rank;
      right += t.count * m * d.rank;
      multiplied += t.count * n * m * d.rank;
      left_squared += t.count * n * d.rank * d.rank;
      right_squared += t.count * m * d.rank * d.rank;
    }
  }
};

// What one rank sends, and what its kernels move and compute, by the papers' descriptions.
struct Formula {
  double wire = 0;
  double bytes = 0;
  double flops = 0;
};
using Formulas = std::map<std::string, std::function<Formula(const Draw&)>>;

// Error feedback reads e and g, then adds the gradient and subtracts what was sent: 8 bytes read
// and 4 written per fp32 element.
double feedback(const Draw& d) {
  return 3 * d.b * d.elements;
}

// A pair of value and index takes b and 4 bytes.
double pair_of(const Draw& d) {
  return d.b + 4;
}

double decode_pairs(const Draw& d, double pairs) {
  return (2 * d.b + 4) * pairs;  // 12 bytes in fp32
}

Formula gathered_pairs(const Draw& d, double passes) {
  return {.wire = (d.p() - 1) * pair_of(d) * d.k(),
          .bytes = feedback(d) + passes * d.b * d.elements + pair_of(d) * d.k() +
                   decode_pairs(d, d.p() * d.k())};
}

// A rank quantises and dequantises all its elements; in between it reads p packed parts and writes
// their sum, one packed part.
Formula quantised(const Draw& d, double bits) {
  const double packed = d.elements * (bits / 8 + 4 / d.block);
  return {.wire = 2 * d.ring() * packed,
          .bytes = 2 * (d.b * d.elements + packed) + packed + packed / d.p()};
}

Formula majority(const Draw& d, double b) {
  const double bits = d.elements / 8;
  return {.wire = 2 * d.ring() * bits, .bytes = 2 * (b * d.elements + bits) + bits + bits / d.p()};
}

Formula one_bit(const Draw& d, double every) {
  const double n = d.elements / every;
  return {.wire = 2 * d.ring() * n / 8,
          .bytes = (20 + 1.0 / 8) * n + (n / 8 + 12 * n / d.p() + n / 8 / d.p()) + (n / 8 + 4 * n)};
}

Formula random_elements(const Draw& d, double moved) {
  return {.wire = 2 * d.ring() * d.b * d.k(), .bytes = feedback(d) + 2 * (moved + d.b) * d.k()};
}

Formula powersgd(const Draw& d, bool hook) {
  const LowRankSums s(d);
  return {.wire = 2 * d.ring() * d.b * (s.left + s.right + s.dense),
          // Bytes per fp32 element are 12 to add the error, 4 for each of two products and 12 to
          // decode (hook: 24); those of the factors come on top.
          .bytes = d.b * ((hook ? 11 : 8) * s.elements + 5 * s.left + (hook ? 5 : 3) * s.right),
          .flops = 6 * s.multiplied + 2 * s.left_squared + (hook ? 2 * s.right_squared : 0)};
}

Formula acp_sgd(const Draw& d) {
  const LowRankSums s(d);
  // Each product reads or writes both factors; half of each factor is orthonormalised and sent.
  return {.wire = 2 * d.ring() * d.b * ((s.left + s.right) / 2 + s.dense),
          .bytes = d.b * (10 * s.elements + (3 + 1) * (s.left + s.right)),
          .flops = 6 * s.multiplied + s.left_squared + s.right_squared};
}

Formula dgc(const Draw& d) {
  double matrices = 0;
  for (const TensorShape& t : d.layer_tensors) {
    if (t.rows > 1 && t.columns > 1) matrices += t.count * t.rows * t.columns;
  }
  const double k = d.density * matrices;
  return {.wire = (d.p() - 1) * pair_of(d) * k + 2 * d.ring() * d.b * (d.elements - matrices),
          .bytes = 3 * d.b * matrices + 1.02 * d.b * matrices + pair_of(d) * k +
                   decode_pairs(d, d.p() * k)};
}

Formula ms_top_k(const Draw& d) {
  const double g = d.p() / d.group.nodes;
  const double nodes = d.group.nodes;
  const double k = d.k() / g;
  const double dense = 2 * (g - 1) / g * d.b * d.elements;
  if (d.group.nodes == 1) return {.wire = dense};
  return {.wire = dense + (nodes - 1) * pair_of(d) * k,
          .bytes = (3 + 30) * d.b * d.elements / g + pair_of(d) * k + decode_pairs(d, nodes * k)};
}

Formula g_top_k(const Draw& d) {
  const double rounds = std::ceil(std::log2(d.p()));
  const double message = pair_of(d) * d.k();
  return {.wire = 2 * rounds * message,
          .bytes = feedback(d) + 2 * d.b * d.elements + message +
                   rounds * message * std::log2(std::max(2.0, d.k())) + decode_pairs(d, d.k())};
}

Formula ok_top_k(const Draw& d) {
  return {.wire = 3 * d.ring() * pair_of(d) * d.k(),  // 6k numbers of 4 bytes in fp32
          .bytes = feedback(d) + d.b * d.elements * (1 + 2 / d.every + 1 / d.p()) +
                   pair_of(d) * d.k() * (1 + 1 / d.p()) + 2 * decode_pairs(d, d.k())};
}

Formula tern_grad(const Draw& d) {
  double scales = 0;
  for (const TensorShape& t : d.layer_tensors) scales += t.count;
  const double sums = d.elements * std::log2(2 * d.p() + 1) / 8;
  return {.wire = 2 * d.ring() * (4 * scales + sums),
          .bytes = (2 * d.b + 0.25) * d.elements + sums + d.b * d.elements};
}

Formula fp8(const Draw& d) {
  double scales = 0;
  for (const TensorShape& t : d.layer_tensors) scales += t.count;
  return {.wire = 2 * d.ring() * (d.elements + 4 * scales),
          .bytes = 2 * (d.b + 1) * d.elements};  // 5 bytes in, 5 out
}

Formula s2_reducer(const Draw& d) {
  double filled = 0;
  for (const TensorShape& t : d.layer_tensors) filled += t.filled * t.elements();
  const double united = d.elements * (1 - std::pow(1 - filled / d.elements, d.p()));
  return {.wire = 2 * d.ring() * (d.b * d.density * d.elements + d.elements / 8),
          // Each nonzero element reads and writes 3 counters; each set bit of the bitmap then reads
          // 3.
          .bytes = (d.b + 0.125) * d.elements + 6 * d.b * filled + d.elements / 8 +
                   (3 + 1) * d.b * united};
}

Formula demo(const Draw& d) {
  return {.wire = (d.p() - 1) * 8 * d.k(),
          // Bytes per element are 12 for momentum, 8 for each of three transforms and 4 for the
          // selection.
          .bytes = (12 + 3 * 8 + 4) * d.elements + 8 * d.k() + 12 * d.p() * d.k(),
          .flops = 3 * 4 * d.elements * d.block};
}

Formula one_bit_sgd(const Draw& d) {
  const double packed = d.elements / 8 + 8 * d.columns;
  return {.wire = (d.p() - 1) * packed,
          .bytes = feedback(d) + d.b * d.elements + packed + d.p() * packed + d.b * d.elements};
}

Formulas formulas() {
  return {
      {"none", [](const Draw& d) { return Formula{2 * d.ring() * d.b * d.elements}; }},
      {"powersgd", [](const Draw& d) { return powersgd(d, false); }},
      {"powersgd-hook", [](const Draw& d) { return powersgd(d, true); }},
      {"acp-sgd", acp_sgd},
      {"topk", [](const Draw& d) { return gathered_pairs(d, 2); }},
      {"topk-threshold", [](const Draw& d) { return gathered_pairs(d, 1); }},
      {"dgc", dgc},
      {"mstopk", ms_top_k},
      {"gtopk", g_top_k},
      {"oktopk", ok_top_k},
      {"randomk", [](const Draw& d) { return random_elements(d, 32); }},
      {"random-block", [](const Draw& d) { return random_elements(d, d.b); }},
      {"signsgd", [](const Draw& d) { return majority(d, d.b); }},
      {"distributed-lion", [](const Draw& d) { return majority(d, 4); }},
      {"onebit-sgd", one_bit_sgd},
      {"onebit-adam", [](const Draw& d) { return one_bit(d, 1); }},
      {"onebit-lamb", [](const Draw& d) { return one_bit(d, 1); }},
      {"zero-one-adam", [](const Draw& d) { return one_bit(d, d.every); }},
      {"terngrad", tern_grad},
      {"qsgd", [](const Draw& d) { return quantised(d, d.bits); }},
      {"int8", [](const Draw& d) { return quantised(d, 8); }},
      {"int6", [](const Draw& d) { return quantised(d, 6); }},
      {"int4", [](const Draw& d) { return quantised(d, 4); }},
      {"fp8", fp8},
      {"s2-reducer", s2_reducer},
      {"demo", demo},
      {"one-byte",
       [](const Draw& d) { return Formula{.wire = d.p() - 1, .bytes = 2 * d.b * d.elements}; }},
  };
}

// Takes the numbers that the method needs from the draw.
CompressorChoice choice_of(const CompressorKind& kind, const Draw& d) {
  CompressorChoice choice = {.name = std::string(kind.name)};
  const std::map<std::string_view, double> drawn = {{"rank", d.rank},   {"density", d.density},
                                                    {"bits", d.bits},   {"block", d.block},
                                                    {"every", d.every}, {"warmup", 0.1}};
  for (const CompressorNumber& number : compressor_numbers()) {
    const auto value = drawn.find(number.name);
    if (takes(kind, number) && value != drawn.end()) choice.*number.member = value->second;
  }
  return choice;
}

TEST(Recipe, BytesAndFlopsAreThoseOfTheFormulas) {
  const Formulas expected = formulas();
  for (const CompressorKind& kind : compressor_kinds()) {
    if (kind.name == "lgreco") continue;  // its base's formula, with other numbers
    ASSERT_TRUE(expected.contains(std::string(kind.name))) << kind.name;
    const auto& formula = expected.at(std::string(kind.name));
    RandomStream random(7, RandomPurpose::test, 0);
    for (int i = 0; i < 200; ++i) {
      const Draw d = draw(random, i % 2 == 0 ? 4 : 2);
      const Formula by_hand = formula(d);
      const Recipe recipe = make_recipe(choice_of(kind, d), d.layer_tensors, d.group, d.b);
      const auto near = [&](double got, double due, const char* what) {
        EXPECT_NEAR(got, due, 1e-9 * std::max(1.0, due)) << kind.name << " " << what << " " << i;
      };
      near(wire_bytes(recipe, d.group), by_hand.wire, "wire");
      near(kernel_bytes(recipe), by_hand.bytes, "bytes");
      near(kernel_flops(recipe), by_hand.flops, "flops");
    }
  }
}

const std::vector<TensorShape>& layer_tensors() {
  static const std::vector<TensorShape> table = {
      {.rows = 1024, .columns = 1024, .count = 4},
      {.rows = 4096, .columns = 1024},
      {.columns = 1024, .count = 6},
  };
  return table;
}
constexpr double kMatrices = 8 * 1024 * 1024;
constexpr double kVectors = 6 * 1024;
constexpr ReducingGroup kRecipeGroup = {16, 2};

std::vector<CollectiveKind> kinds_of(const Recipe& recipe) {
  std::vector<CollectiveKind> kinds;
  for (const RecipeStep& step : recipe.steps) {
    if (step.bytes > 0) kinds.push_back(step.kind);
  }
  return kinds;
}

using enum CollectiveKind;

TEST(Recipe, CollectivesComeInTheOrderOfTheMethods) {
  const auto kinds = [](const char* name) {
    return kinds_of(make_recipe({.name = name}, layer_tensors(), kRecipeGroup, 4));
  };
  using Kinds = std::vector<CollectiveKind>;
  EXPECT_EQ(kinds("none"), (Kinds{all_reduce}));
  EXPECT_EQ(kinds("powersgd"), (Kinds{all_reduce, all_reduce, all_reduce}));  // vectors, P, Q
  EXPECT_EQ(kinds("acp-sgd"), (Kinds{all_reduce}));
  EXPECT_EQ(kinds("topk"), (Kinds{all_gather}));
  EXPECT_EQ(kinds("dgc"), (Kinds{all_gather, all_reduce}));
  EXPECT_EQ(kinds("mstopk"), (Kinds{reduce_scatter, all_gather, all_gather}));
  EXPECT_EQ(kinds("gtopk"), Kinds(8, send_recv));
  EXPECT_EQ(kinds("oktopk"), (Kinds{all_to_all, all_gather}));
  EXPECT_EQ(kinds("signsgd"), (Kinds{all_to_all, all_gather}));
  EXPECT_EQ(kinds("onebit-sgd"), (Kinds{all_gather}));
  EXPECT_EQ(kinds("terngrad"), (Kinds{all_reduce, all_reduce}));  // scales, sums
  EXPECT_EQ(kinds("int8"), (Kinds{all_to_all, all_gather}));
  EXPECT_EQ(kinds("fp8"), (Kinds{all_reduce, all_reduce}));
  EXPECT_EQ(kinds("s2-reducer"), (Kinds{all_reduce, all_reduce}));  // sketch, bitmap
  // Only the largest elements of each part cross between nodes.
  const Recipe recipe = make_recipe({.name = "mstopk"}, layer_tensors(), kRecipeGroup, 4);
  EXPECT_EQ(recipe.steps[0].hop, ReduceHop::node);
  EXPECT_EQ(recipe.steps[1].hop, ReduceHop::across);
  EXPECT_EQ(recipe.steps[2].hop, ReduceHop::node);
}

// The second product of PowerSGD needs the summed P, the decoding the summed Q.
TEST(Recipe, PowerSgdsCollectivesDependOnEachOther) {
  const Recipe recipe = make_recipe({.name = "powersgd"}, layer_tensors(), kRecipeGroup, 4);
  ASSERT_EQ(recipe.steps.size(), 4u);
  const auto has = [](const RecipeStep& step, std::string_view name) {
    for (const Op& op : step.kernels) {
      if (op.name == name) return true;
    }
    return false;
  };
  EXPECT_TRUE(has(recipe.steps[0], "low-rank product"));
  EXPECT_EQ(recipe.steps[0].bytes, 4 * kVectors);
  EXPECT_TRUE(recipe.steps[1].kernels.empty());
  EXPECT_EQ(recipe.steps[1].bytes, 4 * 4 * (4 * 1024 + 4096));
  EXPECT_TRUE(has(recipe.steps[2], "orthonormalise"));
  EXPECT_TRUE(has(recipe.steps[2], "low-rank product"));
  EXPECT_EQ(recipe.steps[2].bytes, 4 * 4 * (4 * 1024 + 1024));
  EXPECT_TRUE(has(recipe.steps[3], "low-rank product"));
  EXPECT_EQ(recipe.steps[3].bytes, 0);
}

// Without vectors the first message is P, with and without the hook.
TEST(Recipe, PowerSgdSendsNothingDenseWhereAllIsMatrices) {
  const std::vector<TensorShape> matrix = {{.rows = 4096, .columns = 1024}};
  for (const char* name : {"powersgd", "powersgd-hook"}) {
    const Recipe recipe = make_recipe({.name = name}, matrix, kRecipeGroup, 4);
    ASSERT_EQ(recipe.steps.size(), 3u) << name;
    EXPECT_GT(recipe.steps[0].bytes, 0) << name;
    EXPECT_FALSE(recipe.steps[0].kernels.empty()) << name;
  }
}

// Without feedback a step of ACP-SGD has one product less than PowerSGD's. Each of its products is
// counted whole: a small matrix takes as long as its waves of tiles, and half a wave takes no less
// time.
TEST(Recipe, AcpSgdMultipliesOnceLess) {
  const auto products = [](const char* name) {
    const CompressorChoice choice = {.name = name, .feedback = ErrorFeedback::none};
    std::vector<double> found;
    for (const RecipeStep& step : make_recipe(choice, layer_tensors(), kRecipeGroup, 4).steps) {
      for (const Op& op : step.kernels) {
        if (op.kind == OpKind::gemm) found.push_back(op.batch);
      }
    }
    return found;
  };
  EXPECT_EQ(products("powersgd"), (std::vector<double>{4, 1, 4, 1, 4, 1}));
  EXPECT_EQ(products("acp-sgd"), (std::vector<double>{4, 1, 4, 1}));
}

// Kernels of single tensors are launched for each tensor, those of a buffer once.
TEST(Recipe, TensorsOfOneShapeAreAsManyKernels) {
  const Recipe recipe = make_recipe({.name = "powersgd"}, layer_tensors(), kRecipeGroup, 4);
  double starts = 0;
  for (const RecipeStep& step : recipe.steps) {
    for (const Op& op : step.kernels) starts += op.starts;
  }
  EXPECT_EQ(starts, 1 + 5 * (3 + 4));  // three products and the four columns of a factor
  const Recipe flat = make_recipe({.name = "int8"}, layer_tensors(), kRecipeGroup, 4);
  EXPECT_EQ(flat.steps[0].kernels[0].starts, 1);
}

TEST(Recipe, StateIsErrorsAndFactors) {
  const auto state = [](CompressorChoice choice) {
    return make_recipe(choice, layer_tensors(), kRecipeGroup, 4).state_bytes;
  };
  const double all = 4 * (kMatrices + kVectors);
  const double left = 4 * 4 * (4 * 1024 + 4096);
  const double right = 4 * 4 * (4 * 1024 + 1024);
  EXPECT_EQ(state({.name = "none"}), 0);
  EXPECT_EQ(state({.name = "powersgd"}), 4 * kMatrices + right);
  EXPECT_EQ(state({.name = "acp-sgd"}), 4 * kMatrices + left + right);
  EXPECT_EQ(state({.name = "topk"}), all);
  EXPECT_EQ(state({.name = "topk", .feedback = ErrorFeedback::none}), 0);
  EXPECT_EQ(state({.name = "topk", .feedback = ErrorFeedback::ef21}), all);
  EXPECT_EQ(state({.name = "topk", .feedback = ErrorFeedback::econtrol}), 2 * all);
  EXPECT_EQ(state({.name = "signsgd"}), 0);
  EXPECT_EQ(state({.name = "onebit-adam"}), all * (1 + 1.0 / 16));
  EXPECT_EQ(state({.name = "mstopk"}), all / 8);
}

// EF21 moves as much as error feedback, EControl moves 20 bytes per element of fp32; the wire is
// the same.
TEST(Recipe, FeedbackChangesKernelsAlone) {
  const double n = kMatrices + kVectors;
  for (const char* name : {"topk", "randomk", "oktopk", "int8", "signsgd", "onebit-sgd"}) {
    const auto recipe = [&](ErrorFeedback feedback) {
      return make_recipe({.name = name, .feedback = feedback}, layer_tensors(), kRecipeGroup, 4);
    };
    const Recipe none = recipe(ErrorFeedback::none);
    const double ef = kernel_bytes(recipe(ErrorFeedback::ef)) - kernel_bytes(none);
    // With signs, the scale takes one more read of 4 bytes.
    EXPECT_NEAR(ef, std::string_view(name) == "signsgd" ? 16 * n : 12 * n, 1) << name;
    EXPECT_NEAR(kernel_bytes(recipe(ErrorFeedback::ef21)), kernel_bytes(none) + ef, 1) << name;
    EXPECT_NEAR(kernel_bytes(recipe(ErrorFeedback::econtrol)), kernel_bytes(none) + ef + 8 * n, 1)
        << name;
    for (const auto feedback : {ErrorFeedback::ef, ErrorFeedback::ef21, ErrorFeedback::econtrol}) {
      EXPECT_EQ(wire_bytes(recipe(feedback), kRecipeGroup), wire_bytes(none, kRecipeGroup)) << name;
    }
  }
}

// A bucket of biases, or of matrices too small for the rank, travels as it is.
TEST(Recipe, WhatFactorsDoNotPayForIsDense) {
  for (const char* name : {"powersgd", "powersgd-hook", "acp-sgd"}) {
    for (const TensorShape& tensor :
         {TensorShape{.columns = 1000}, TensorShape{.rows = 2, .columns = 1024}}) {
      const std::vector<TensorShape> buffer = {tensor};
      const Recipe recipe = make_recipe({.name = name, .rank = 4}, buffer, kRecipeGroup, 4);
      ASSERT_EQ(recipe.steps.size(), 1u);
      EXPECT_TRUE(recipe.steps[0].kernels.empty());
      EXPECT_EQ(recipe.steps[0].bytes, 4 * tensor.elements());
      EXPECT_EQ(recipe.state_bytes, 0);
    }
  }
}

TEST(Recipe, AnEmptyBufferIsNothing) {
  for (const CompressorKind& kind : compressor_kinds()) {
    const Recipe recipe = make_recipe({.name = std::string(kind.name)}, {}, kRecipeGroup, 4);
    EXPECT_LE(wire_bytes(recipe, kRecipeGroup),
              kind.name == "one-byte" ? kRecipeGroup.ranks - 1 : 0)
        << kind.name;
    EXPECT_EQ(kernel_bytes(recipe), 0) << kind.name;
  }
}

// Li et al. 2021 report 4.6 times less volume than fp16 gradients, with this warm-up share
// (recalled from the paper: 1/6 of the steps).
TEST(Recipe, OneBitLambsVolume) {
  const CompressorChoice lamb = {.name = "onebit-lamb", .warmup = 0.165};
  const double dense = run_wire_bytes({}, layer_tensors(), kRecipeGroup, 2);
  EXPECT_NEAR(dense / run_wire_bytes(lamb, layer_tensors(), kRecipeGroup, 2), 4.6, 0.05);
  for (const double w : {0.0, 0.3, 1.0}) {
    CompressorChoice choice = lamb;
    choice.warmup = w;
    const double ratio = dense / run_wire_bytes(choice, layer_tensors(), kRecipeGroup, 2);
    const double share = w == 0 ? 0.165 : w;  // 0: the default
    EXPECT_NEAR(ratio, 1 / (share + (1 - share) / 16), 1e-9);
  }
}

TEST(Recipe, WhatCannotBeTakenIsRefused) {
  const auto message = [](const CompressorChoice& choice) -> std::string {
    return error_of([&] {
      check_compressor(choice, layer_tensors());
      make_recipe(choice, layer_tensors(), kRecipeGroup, 4);
    });
  };
  CompressorChoice wrong = {.name = "powersgdd"};
  wrong.where = {"s.yaml", 3, 5};
  EXPECT_EQ(message(wrong), "s.yaml:3:5: unknown compressor 'powersgdd'; did you mean 'powersgd'?");
  EXPECT_EQ(message({.name = "powersgd", .rank = 1025}),
            "compressor powersgd: rank 1025 is above the 1024 rows or columns of the largest "
            "gradient; choose a smaller one");
  EXPECT_EQ(message({.name = "powersgd", .rank = 1024}), "no error");
  EXPECT_EQ(message({.name = "topk", .density = 1.5}),
            "compressor topk: density 1.5 is not above 0 and at most 1");
  EXPECT_EQ(message({.name = "topk", .density = -0.5}),
            "compressor topk: density -0.5 is not above 0 and at most 1");
  EXPECT_EQ(message({.name = "qsgd", .bits = 33}), "compressor qsgd: bits 33 is not from 1 to 32");
  EXPECT_EQ(message({.name = "topk", .density = std::nan("")}).substr(0, 16), "compressor topk:");
  // Without matrices there is none whose rank could be too small.
  const std::vector<TensorShape> vectors = {{.columns = 5}};
  EXPECT_NO_THROW(check_compressor({.name = "powersgd", .rank = 9}, vectors));
}

}  // namespace
}  // namespace windtunnel

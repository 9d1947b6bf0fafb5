// An exchange must run what the simulator costs: kernels, collectives and bytes, in this order.
#include <gtest/gtest.h>

#include <map>

#include "models/base/error.hpp"
#include "models/compression/recipe.hpp"
#include "tests/validate/harness/exchange/exchange.hpp"

namespace windtunnel {
namespace {

// The other ranks do not exist: exchanges are built, but not run.
class NobodyElse : public Collectives {
 public:
  explicit NobodyElse(int ranks) : ranks_(ranks) {}
  int rank() const override { return 0; }
  int ranks() const override { return ranks_; }
  void all_reduce(float* /*values*/, size_t /*elements*/) override {}
  void reduce_scatter(const float* /*values*/, float* /*part*/, size_t /*elements*/) override {}
  void all_gather(const std::byte* /*part*/, std::byte* /*all*/, size_t /*bytes*/) override {}
  void all_to_all(const std::byte* /*out*/, std::byte* /*in*/, size_t /*bytes*/) override {}
  void broadcast(std::byte* /*values*/, size_t /*bytes*/, int /*root*/) override {}
  void exchange(int /*to*/, const std::byte* /*out*/, size_t /*out_bytes*/, int /*from*/,
                std::byte* /*in*/, size_t /*in_bytes*/) override {}

 private:
  int ranks_;
};

constexpr int kRanks = 4;
// Each rank's part is a multiple of a block, and each tensor a multiple of a line, so nothing is
// padded.
const std::vector<TensorShape> kShapes = {{0, 4096}, {256, 512}, {0, 4096}, {128, 1024}};

// Holds bytes of kernels by their names in recipes, and the collective that follows them.
struct Part {
  std::map<std::string, double> kernels;
  std::string collective;  // empty: none
  double bytes = 0;
};

std::string collective_name(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_reduce:
      return "all-reduce-ring";
    case CollectiveKind::all_gather:
      return "all-gather-ring";
    case CollectiveKind::all_to_all:
      return "all-to-all-pairwise";
    default:
      return "?";
  }
}

std::vector<Part> parts_of(const Recipe& recipe) {
  std::vector<Part> parts;
  for (const RecipeStep& step : recipe.steps) {
    Part& part = parts.emplace_back();
    for (const Op& op : step.kernels) part.kernels[std::string(op.name)] += op.bytes;
    if (step.bytes > 0) {
      part.collective = collective_name(step.kind);
      part.bytes = step.bytes;
    }
  }
  return parts;
}

std::string recipe_name(const KernelKind& kind) {
  if (kind.name == "add") return "error add";
  return std::string(kind.share.empty() ? kind.name : kind.share);
}

std::vector<Part> parts_of(std::span<const ExchangeStep> steps) {
  std::vector<Part> parts(1);
  for (const ExchangeStep& step : steps) {
    const KernelKind& kind = kernel_kind(step.work.kernel);
    if (step.communicates()) {
      parts.back().collective = step.work.kernel;
      parts.back().bytes = kind.bytes(step.work);
      EXPECT_EQ(step.work.ranks, kRanks);
      parts.emplace_back();
    } else {
      parts.back().kernels[recipe_name(kind)] += kind.bytes(step.work);
    }
  }
  if (parts.back().kernels.empty()) parts.pop_back();
  return parts;
}

Exchange exchange_of(const CompressorChoice& choice, Collectives& collectives) {
  return {choice, kShapes, device(DeviceKind::cpu), collectives};
}

struct Difference {
  std::vector<std::string> extra = {};  // kernels that are in no recipe
  double kernel_tolerance = 1e-9;       // relative, of bytes
  double bytes_tolerance = 1e-9;
};

void expect_like(const std::vector<Part>& real, const std::vector<Part>& recipe,
                 const Difference& difference) {
  ASSERT_EQ(real.size(), recipe.size());
  for (size_t i = 0; i < real.size(); ++i) {
    SCOPED_TRACE(::testing::Message() << "part " << i);
    EXPECT_EQ(real[i].collective, recipe[i].collective);
    EXPECT_NEAR(real[i].bytes, recipe[i].bytes, difference.bytes_tolerance * recipe[i].bytes);
    std::map<std::string, double> kernels = real[i].kernels;
    for (const std::string& name : difference.extra) {
      if (recipe[i].kernels.count(name) == 0) kernels.erase(name);
    }
    ASSERT_EQ(kernels.size(), recipe[i].kernels.size());
    for (const auto& [name, bytes] : recipe[i].kernels) {
      EXPECT_NEAR(kernels[name], bytes, difference.kernel_tolerance * bytes) << name;
    }
  }
}

void expect_recipe(const CompressorChoice& choice, const Difference& difference) {
  SCOPED_TRACE(choice.name);
  NobodyElse nobody(kRanks);
  const Exchange exchange = exchange_of(choice, nobody);
  const Recipe recipe = make_recipe(choice, kShapes, {.ranks = kRanks, .nodes = 1}, 4);
  expect_like(parts_of(exchange.steps()), parts_of(recipe), difference);
}

TEST(ExchangeRecipe, RunsWhatRecipesCost) {
  expect_recipe({.name = "none"}, {});
  // Scales of a part are padded to 256 bytes.
  expect_recipe({.name = "int8"}, {{"copy"}, 0.02, 0.01});
  expect_recipe({.name = "int8", .feedback = ErrorFeedback::none}, {{"copy"}, 0.02, 0.01});
  expect_recipe({.name = "signsgd"}, {});
  // Sum and error are computed by two kernels, which both read the factors.
  expect_recipe({.name = "powersgd"}, {{"scale"}, 0.02, 1e-9});
  expect_recipe({.name = "powersgd", .rank = 8, .feedback = ErrorFeedback::none}, {{}, 1e-9, 1e-9});
  for (const char* const name : {"topk", "topk-threshold"}) {
    expect_recipe({.name = name, .density = 1.0 / 64}, {{"copy", "scatter"}, 1e-9, 1e-9});
  }
  // The recipe of random-k counts a memory sector for each element, the kernel only the element.
  expect_recipe({.name = "randomk", .density = 1.0 / 64}, {{"copy", "scatter"}, 0.7, 1e-9});
}

// Instead of requantising, int4 is decoded, added and encoded.
TEST(ExchangeRecipe, Int4DecodesToSum) {
  NobodyElse nobody(kRanks);
  const CompressorChoice choice{.name = "int4", .block = 64};
  const Exchange exchange = exchange_of(choice, nobody);
  std::vector<Part> parts = parts_of(exchange.steps());
  std::vector<Part> recipe = parts_of(make_recipe(choice, kShapes, {kRanks, 1}, 4));
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[1].kernels.count("quantise blocks"), 1U);
  EXPECT_EQ(parts[1].kernels.count("error add"), 1U);
  EXPECT_GT(parts[1].kernels["quantise blocks"], recipe[1].kernels["requantise blocks"]);
  parts[1].kernels = recipe[1].kernels;
  expect_like(parts, recipe, {{}, 0.02, 0.01});
}

// The scale is summed, too. One kernel reads both arrays for it, and another adds one array to the
// other.
TEST(ExchangeRecipe, SignsWithFeedbackMoveAsManyBytes) {
  NobodyElse nobody(kRanks);
  const CompressorChoice choice{.name = "signsgd", .feedback = ErrorFeedback::ef};
  const Exchange exchange = exchange_of(choice, nobody);
  const std::vector<Part> parts = parts_of(exchange.steps());
  const std::vector<Part> recipe = parts_of(make_recipe(choice, kShapes, {kRanks, 1}, 4));
  ASSERT_EQ(parts.size(), recipe.size() + 1);
  EXPECT_EQ(parts[0].collective, "all-reduce-ring");
  EXPECT_EQ(parts[0].bytes, 4);
  const auto bytes_of = [](const Part& part) {
    double bytes = 0;
    for (const auto& [name, moved] : part.kernels) bytes += moved;
    return bytes;
  };
  EXPECT_NEAR(bytes_of(parts[0]), bytes_of(recipe[0]), 1e-4 * bytes_of(recipe[0]));
  for (size_t i = 0; i < recipe.size(); ++i) {
    EXPECT_EQ(parts[i + 1].collective, recipe[i].collective);
    EXPECT_EQ(parts[i + 1].bytes, recipe[i].bytes);
    if (i > 0) expect_like({parts[i + 1]}, {recipe[i]}, {});
  }
}

// Factors are sent in turn: the average of two runs equals the recipe, except for the authors'
// second pass over the error.
TEST(ExchangeRecipe, AcpSgdTakesTurns) {
  NobodyElse nobody(kRanks);
  const CompressorChoice choice{.name = "acp-sgd"};
  Exchange exchange = exchange_of(choice, nobody);
  const std::vector<Part> first = parts_of(exchange.steps());
  exchange.run();
  const std::vector<Part> second = parts_of(exchange.steps());
  exchange.run();
  EXPECT_EQ(parts_of(exchange.steps()).front().bytes, first.front().bytes);
  const std::vector<Part> recipe = parts_of(make_recipe(choice, kShapes, {kRanks, 1}, 4));
  ASSERT_EQ(first.size(), recipe.size());
  EXPECT_NE(first[0].bytes, second[0].bytes);
  EXPECT_EQ((first[0].bytes + second[0].bytes) / 2, recipe[0].bytes);
  for (size_t i = 0; i < recipe.size(); ++i) {
    EXPECT_EQ(first[i].collective, recipe[i].collective);
    for (const auto& [name, bytes] : recipe[i].kernels) {
      const double ours = (first[i].kernels.at(name) + second[i].kernels.at(name)) / 2;
      const double authors = name == "error add" ? 2 : 1;
      EXPECT_NEAR(authors * ours, bytes, 1e-9 * bytes) << name;
    }
  }
}

// These two differ in their collectives; docs/reference/harness.md says why.
TEST(ExchangeRecipe, TernaryAndSketchesGather) {
  NobodyElse nobody(kRanks);
  const auto text_of = [&](const CompressorChoice& choice) {
    KernelSteps steps;
    const Exchange exchange = exchange_of(choice, nobody);
    for (const ExchangeStep& step : exchange.steps()) {
      if (step.communicates()) steps.push_back({step.work});
    }
    return to_text(steps);
  };
  EXPECT_EQ(text_of({.name = "terngrad"}),
            "all-gather-ring bytes=16 ranks=4 > all-gather-ring bytes=270336 ranks=4");
  EXPECT_EQ(text_of({.name = "s2-reducer", .density = 0.75}),
            "all-reduce-ring bytes=811008 ranks=4 > all-gather-ring bytes=135168 ranks=4");
  const std::vector<Part> recipe =
      parts_of(make_recipe({.name = "s2-reducer", .density = 0.75}, kShapes, {kRanks, 1}, 4));
  EXPECT_EQ(recipe[0].bytes, 811008);
  EXPECT_EQ(recipe[1].bytes * kRanks, 135168);
}

// Sums bytes by the name of the kernel.
std::map<std::string, double> bytes_run(std::span<const ExchangeStep> steps) {
  std::map<std::string, double> bytes;
  for (const ExchangeStep& step : steps) {
    if (step.communicates()) continue;
    bytes[step.work.kernel] += kernel_kind(step.work.kernel).bytes(step.work);
  }
  return bytes;
}
std::map<std::string, double> bytes_priced(const std::vector<Op>& kernels) {
  std::map<std::string, double> bytes;
  for (const Op& op : kernels) bytes[std::string(op.kernel)] += op.bytes;
  return bytes;
}

void expect_near(const std::map<std::string, double>& ran,
                 const std::map<std::string, double>& priced, double tolerance) {
  ASSERT_EQ(ran.size(), priced.size());
  for (const auto& [kernel, bytes] : ran) {
    ASSERT_TRUE(priced.contains(kernel)) << kernel;
    EXPECT_NEAR(priced.at(kernel), bytes, tolerance * bytes) << kernel;
  }
}

// The recipe counts the packed signs in the other pass: an eighth of a byte per element, where the
// two arrays have 8 bytes.
TEST(ExchangeRecipe, SignsWithFeedbackRunTheKernelsThatTheyArePricedBy) {
  NobodyElse nobody(kRanks);
  const CompressorChoice choice{.name = "signsgd", .feedback = ErrorFeedback::ef};
  const Exchange exchange = exchange_of(choice, nobody);
  const std::span<const ExchangeStep> steps = exchange.steps();
  const Recipe recipe = make_recipe(choice, kShapes, {kRanks, 1}, 4);
  const std::map<std::string, double> priced = bytes_priced(recipe.steps[0].kernels);
  EXPECT_EQ(priced.size(), 2U);
  expect_near(bytes_run(steps.first(2)), priced, 0.016);
}

// Bits of ranks are combined by a vote, which would not be needed if the network combined them.
TEST(ExchangeRecipe, SketchesRunTheKernelsThatTheyArePricedBy) {
  NobodyElse nobody(kRanks);
  const CompressorChoice choice{.name = "s2-reducer"};
  const Exchange exchange = exchange_of(choice, nobody);
  std::map<std::string, double> ran = bytes_run(exchange.steps());
  EXPECT_EQ(ran.erase("vote"), 1U);
  std::vector<Op> kernels;
  for (const RecipeStep& step : make_recipe(choice, kShapes, {kRanks, 1}, 4).steps) {
    kernels.insert(kernels.end(), step.kernels.begin(), step.kernels.end());
  }
  expect_near(ran, bytes_priced(kernels), 1e-9);
}

// Each rank adds the decoded codes, because nothing sums them in transit.
TEST(ExchangeRecipe, TernaryRunsTheKernelsThatItIsPricedBy) {
  NobodyElse nobody(kRanks);
  const CompressorChoice choice{.name = "terngrad"};
  const Exchange exchange = exchange_of(choice, nobody);
  std::vector<std::string> ran;
  for (const ExchangeStep& step : exchange.steps()) {
    const bool again = !ran.empty() && ran.back() == step.work.kernel;
    if (!step.communicates() && step.work.kernel != "add" && !again) {
      ran.push_back(step.work.kernel);
    }
  }
  std::vector<std::string> priced;
  for (const RecipeStep& step : make_recipe(choice, kShapes, {kRanks, 1}, 4).steps) {
    for (const Op& op : step.kernels) priced.emplace_back(op.kernel);
  }
  // The kernel finds a rank's maximum, and the recipe's collective finds the maximum of all.
  EXPECT_EQ(priced, (std::vector<std::string>{"ternary-max", "ternary", "ternary-decode"}));
  EXPECT_EQ(ran, priced);
}

// What was sent is subtracted from the error, by a descent kernel with a rate of one.
TEST(ExchangeRecipe, QuantisedErrorsLeaveByDescent) {
  NobodyElse nobody(kRanks);
  const Exchange exchange = exchange_of({.name = "int8", .feedback = ErrorFeedback::ef}, nobody);
  std::map<std::string, int> ran;
  for (const ExchangeStep& step : exchange.steps()) ++ran[step.work.kernel];
  EXPECT_EQ(ran["add"], 1);
  EXPECT_EQ(ran["sgd"], 1);
}

TEST(ExchangeRecipe, RefusesWhatIsNotThere) {
  NobodyElse nobody(kRanks);
  for (const char* const name : {"fp8", "demo", "onebit-sgd", "qsgd", "dgc"}) {
    EXPECT_THROW(exchange_of({.name = name}, nobody), Error) << name;
  }
}

}  // namespace
}  // namespace windtunnel

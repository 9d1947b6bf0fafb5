#include "models/cost/parallel/tensor_rules.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "models/base/error.hpp"
#include "tests/models/cost/cost_fixtures.hpp"

namespace windtunnel {
namespace {

double biases_of(TransformerSpec model) {
  const double with = model.parameters();
  model.biases = false;
  return with - model.parameters();
}

// Dense models with and without biases, experts after dense layers, shared experts, latent
// attention with and without low-rank queries, and an encoder.
std::vector<TransformerSpec> models() {
  std::vector<TransformerSpec> all = {gpt3_175b(), llama3_8b(), llama3_405b(), deepseek_v3()};
  TransformerSpec direct = deepseek_v3();
  direct.name = "deepseek with whole queries";
  direct.latent.query_rank = 0;
  all.push_back(direct);
  TransformerSpec encoder = gpt3_175b();
  encoder.name = "encoder";
  encoder.encoder = true;
  all.push_back(encoder);
  return all;
}

// The rules name each tensor of a model once, with its size.
TEST(TensorRules, NameEveryParameterOfEveryModelOnce) {
  for (const TransformerSpec& model : models()) {
    double sum = 0;
    for (const TensorRule& rule : tensor_rules(model)) sum += rule.parameters();
    const double expected = model.parameters() - biases_of(model);
    EXPECT_NEAR(sum, expected, 1e-12 * expected) << model.name;
  }
}

// A product that is split by columns is followed by one that is split by rows, and nothing is
// exchanged between them (Shoeybi et al. 2019, section 3).
TEST(TensorRules, RowsFollowColumns) {
  for (const TransformerSpec& model : models()) {
    int open = 0;
    for (const TensorRule& rule : tensor_rules(model)) {
      if (rule.tensor == "embedding" || rule.tensor == "head") continue;
      if (rule.split == "columns") ++open;
      if (rule.split != "rows") continue;
      EXPECT_GT(open, 0) << model.name << ", " << rule.tensor;
      open = 0;
    }
    EXPECT_EQ(open, 0) << model.name;
  }
}

TEST(TensorRules, RanksShareWholeGroupsOfHeads) {
  EXPECT_EQ(most_tensor_ranks(llama3_8b()), 8);
  EXPECT_EQ(most_tensor_ranks(deepseek_v3()), 128);
}

TransformerSpec pattern_model() {
  TransformerSpec model;
  model.name = "hybrid";
  model.layers = 4;
  model.pattern = "M-M*";
  model.mamba = {.state = 128, .head_width = 64, .groups = 2, .heads = 16};
  return model;
}

bool goes(const Layout& layout, const TransformerSpec& model = pattern_model()) {
  try {
    check_pattern_layout(model, layout);
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(PatternLayout, TensorParallelismTakesWholeGroups) {
  EXPECT_TRUE(goes({.tp = 2}));
  EXPECT_FALSE(goes({.tp = 4}));  // 16 heads, but only 2 groups
  TransformerSpec attention_only = pattern_model();
  attention_only.pattern = "*-*-";
  EXPECT_TRUE(goes({.tp = 4}, attention_only));
}

TEST(PatternLayout, ContextParallelismCopiesGroups) {
  EXPECT_TRUE(goes({.cp = 8}));
  EXPECT_TRUE(goes({.tp = 2, .cp = 8}));
  EXPECT_FALSE(goes({.tp = 2, .cp = 16}));  // 16 heads on 32 ranks
  EXPECT_FALSE(goes({.cp = 3}));
  EXPECT_TRUE(goes({.cp = 4, .context = ContextForm::ulysses}));
}

TEST(PatternLayout, NoSignaturesOfItsOwn) {
  Layout own;
  own.signatures.up = MatrixSplit::rows;
  EXPECT_FALSE(goes(own));
}

}  // namespace
}  // namespace windtunnel

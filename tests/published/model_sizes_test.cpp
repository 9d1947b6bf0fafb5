// Parameters of the library's models must match what their makers publish.
#include <gtest/gtest.h>

#include <set>

#include "models/cost/parallel/tensor_rules.hpp"
#include "scenarios/language/library/library.hpp"

namespace windtunnel {
namespace {

struct PublishedSize {
  const char* name;
  double billions;    // sum over the checkpoint, or the paper's figure
  double active = 0;  // billions active per token, with its embedding row; 0: dense
  double tolerance = 0.01;
  double active_tolerance = 0.01;
};

const PublishedSize kSizes[] = {
    {"llama3.1-8b", 8.030261248},
    {"llama3.1-70b", 70.553706496},
    {"llama3.1-405b", 405.853388800},
    {"llama3.2-1b", 1.235814400},
    {"llama3.2-3b", 3.212749824},
    {"llama2-7b", 6.738415616},
    {"llama2-13b", 13.015864320},
    {"llama2-70b", 68.976648192},
    // Llama 4's active parameters are rounded in its name; its vision tower (0.9) is left out.
    {"llama4-scout", 108.6, 17, 0.01, 0.03},
    {"llama4-maverick", 400.7, 17, 0.01, 0.03},
    {"mistral-7b", 7.241732096},
    {"mistral-nemo-12b", 12.247782400},
    {"mistral-small-24b", 23.572403200},
    {"mistral-large-123b", 122.610069504},
    {"mixtral-8x7b", 46.702792704, 12.9},
    {"mixtral-8x22b", 140.620634112, 39.1},
    {"qwen2-0.5b", 0.494032768},
    {"qwen2-1.5b", 1.543714304},
    {"qwen2-7b", 7.615616512},
    {"qwen2-72b", 72.706203648},
    {"qwen2-57b-a14b", 57.409, 14.2, 0.01, 0.02},
    {"qwen2.5-0.5b", 0.494032768},
    {"qwen2.5-1.5b", 1.543714304},
    {"qwen2.5-3b", 3.085938688},
    {"qwen2.5-7b", 7.615616512},
    {"qwen2.5-14b", 14.770033664},
    {"qwen2.5-32b", 32.763876352},
    {"qwen2.5-72b", 72.706203648},
    {"qwen3-0.6b", 0.596049920},
    {"qwen3-1.7b", 1.720574976},
    {"qwen3-4b", 4.022468096},
    {"qwen3-8b", 8.190735360},
    {"qwen3-14b", 14.768307200},
    {"qwen3-32b", 32.762123264},
    {"qwen3-30b-a3b", 30.532122624, 3.35},
    {"qwen3-235b-a22b", 235.093634560, 22.2},
    {"codellama-7b", 6.738546688},
    {"codellama-13b", 13.016028160},
    {"tinyllama-1.1b", 1.100048384},
    {"open-llama-3b", 3.426473600},
    {"qwen1.5-0.5b", 0.463987712},
    {"qwen1.5-1.8b", 1.836828672},
    {"qwen1.5-4b", 3.950369280},
    {"qwen1.5-7b", 7.721324544},
    {"qwen1.5-14b", 14.167290880},
    {"qwen1.5-32b", 32.512218112},
    {"qwen1.5-72b", 72.287920128},
    {"smollm2-135m", 0.134515008},
    {"smollm2-360m", 0.361821120},
    {"smollm2-1.7b", 1.711376384},
    {"phi-1.5", 1.418270720},
    {"phi-2", 2.779683840},
    {"phi4-mini", 3.836021760},
    {"stablelm-2-1.6b", 1.644515328},
    {"bloom-560m", 0.559214592},
    {"bloom-1b1", 1.065314304},
    {"bloom-1b7", 1.722408960},
    {"bloom-3b", 3.002557440},
    {"bloom-7b1", 7.069016064},
    {"pythia-410m", 0.405334016},
    {"pythia-1b", 1.011781632},
    {"pythia-1.4b", 1.414647808},
    {"pythia-2.8b", 2.775208960},
    {"pythia-6.9b", 6.857302016},
    {"pythia-12b", 11.846072320},
    {"gpt-j-6b", 6.050882784},
    {"falcon-7b", 6.921720704},
    {"falcon3-7b", 7.455550464},
    {"yi-6b", 6.061035520},
    {"yi-34b", 34.388917248},
    {"xgen-7b", 6.9},
    {"starcoder2-3b", 3.030371328},
    {"starcoder2-7b", 7.173923840},
    {"starcoder2-15b", 15.957889024},
    {"gemma-2b", 2.506172416},
    {"gemma-7b", 8.537680896},
    {"gemma3-270m", 0.268098176},
    {"ministral-8b", 8.019808256},
    {"seed-coder-8b", 8.25},
    {"seed-oss-36b", 36.151104512},
    {"granite3.3-2b", 2.533531648},
    {"olmo2-1b", 1.484916736},
    {"olmo2-7b", 7.298617344},
    {"falcon-40b", 41.303},
    {"falcon-180b", 179.5},
    {"granite3.1-8b", 8.170848256},
    {"olmo2-13b", 13.716198400},
    {"olmo2-32b", 32.234279936},
    {"olmo3-7b", 7.298},
    {"olmo3-32b", 32.234},
    {"smollm3-3b", 3.075098624},
    {"yi-9b", 8.829407232},
    {"deepseek-llm-7b", 6.910365696},
    {"deepseek-llm-67b", 67.424706560},
    {"deepseek-coder-6.7b", 6.740512768},
    {"deepseek-coder-33b", 33.342991360},
    {"internlm2-7b", 7.737708544},
    {"internlm2-20b", 19.861149696},
    {"baichuan2-7b", 7.505973248},
    {"baichuan2-13b", 13.896668160},
    {"phi3-medium", 13.960238080},
    {"command-r-35b", 34.980831232},
    {"command-r-plus-104b", 103.810674688},
    {"stablelm-2-12b", 12.143},
    {"starcoder-15b", 15.517456384},
    {"gpt2", 0.124439808},
    {"gpt2-medium", 0.354823168},
    {"gpt2-xl", 1.557611200},
    {"opt-2.7b", 2.651596800},
    {"olmoe-1b-7b", 6.919161856, 1.28},
    {"qwen1.5-moe-a2.7b", 14.3, 2.7},
    {"deepseek-moe-16b", 16.375728128, 2.83},
    {"phi3.5-moe", 41.873153344, 6.6},
    {"dbrx-132b", 131.596523520, 36, 0.005, 0.02},
    {"qwen3-coder-480b-a35b", 480.154875392, 35, 0.005, 0.02},
    {"glm-4.7-flash", 30, 3 + 0.63, 0.01, 0.08},  // 30 and 3 by its name
    // 106 and 12 in the paper, without embedding and head (1.24).
    {"glm-4.5-air", 106, 12 + 1.24, 0.01, 0.02},
    // 16 is rounded in the name; 2.24 B parameters are active without embeddings.
    {"moonlight-16b-a3b", 16, 2.9, 0.01, 0.05},
    {"gemma2-2b", 2.614341888},
    {"gemma2-9b", 9.241705984},
    {"gemma2-27b", 27.227128320},
    // Gemma 3 has no vision tower here: arXiv 2503.19786, table 1, lists embedding and rest.
    {"gemma3-1b", 0.302 + 0.698},
    {"gemma3-4b", 0.675 + 3.209},
    {"gemma3-12b", 1.012 + 10.759},
    {"gemma3-27b", 1.416 + 25.600},
    {"phi3-mini", 3.821079552},
    {"phi4-14b", 14.659507200},
    // The model card counts the output matrix as active, and not the embedding (0.58).
    {"gpt-oss-20b", 20.914757184, 3.61 + 0.58},
    {"gpt-oss-120b", 116.829156672, 5.13 + 0.58},
    {"deepseek-v2-lite", 15.706484224, 2.66},
    {"deepseek-v2", 235.741434880, 21.4},
    // The paper rounds to 37.
    {"deepseek-v3", 671.026, 37, 0.01, 0.02},
    // The name rounds to 1 T and 32; the paper has 1,043 and 32.6.
    {"kimi-k2", 1026, 32.6},
    // The paper states 355 and 32, without embedding and head (1.55) but with the layer for
    // multi-token prediction (3.8).
    {"glm-4.5", 355 + 1.55 - 3.8, 32 + 1.55},
    // The checkpoint has 81.32, with the module for multi-token prediction (1.65).
    {"qwen3-next-80b-a3b", 81.32 - 1.65, 3 + 0.87, 0.005, 0.02},
    // The eight sizes of Qwen3.5 are rounded in their names.
    {"qwen3.5-0.8b", 0.8, 0, 0.07, 0.07},
    {"qwen3.5-2b", 2, 0, 0.07, 0.07},
    {"qwen3.5-4b", 4, 0, 0.07, 0.07},
    {"qwen3.5-9b", 9, 0, 0.01, 0.01},
    {"qwen3.5-35b-a3b", 35, 3 + 0.47, 0.015, 0.03},
    {"qwen3.5-27b", 27, 0, 0.005, 0.005},
    {"qwen3.5-122b-a10b", 122, 10, 0.015, 0.03},
    {"qwen3.5-397b-a17b", 397, 17, 0.005, 0.025},
    {"deepseek-v3.2", 671.026 + 0.852, 37, 0.005, 0.04},  // parameters of V3 and of the indexers
    {"glm-5", 744, 40 + 1.9, 0.005},                      // 40 without embedding and head
    {"kimi-linear-48b-a3b", 49.12, 3 + 0.48, 0.005},      // 48 and 3 in its name
    {"minimax-text-01", 456, 45.9 + 2.46, 0.005},         // 45.9 without embedding and head
    {"minimax-m2", 228.7, 10 + 1.03, 0.005},
    {"nemotron4-15b", 15.6},
    {"nemotron-340b", 341},
    {"mamba2-2.7b", 2.702},
    // These three are rounded in their names.
    {"nemotron-h-8b", 8, 0, 0.015, 0.015},
    {"nemotron-h-47b", 47},
    {"nemotron-h-56b", 56},
    {"nemotron-3-nano", 31.6, 3.6},
    {"nemotron-3.5-lightning", 31.6, 3.6},
    {"nemotron-3-super", 120.6, 12.7, 0.01, 0.02},
    {"nemotron-3-ultra", 550, 55, 0.01, 0.02},
    // The expected values are sums over the tensors in the checkpoints of google-t5, facebook and
    // openai-community.
    {"t5-large", 0.737668096, 0, 1e-5, 1e-5},
    {"t5-3b", 2.851598336, 0, 1e-5, 1e-5},
    {"t5-11b", 11.307321344, 0, 1e-5, 1e-5},
    {"bart-large", 0.406291456, 0, 2e-5, 2e-5},
    {"gpt2-large", 0.774030080, 0, 1e-5, 1e-5},
    {"vit-l-16", 0.3043},
    {"vit-h-14", 0.632},
    {"vit-big-g-14", 1.843},
    {"dit-xl-2", 0.675},
    {"sd3-medium", 2.028328000},
    {"sd3.5-large", 8.056627520},
    {"flux.1-dev", 11.901408320},
};

TEST(ModelSizes, AreThePublishedOnes) {
  for (const PublishedSize& row : kSizes) {
    const TransformerSpec& model = find_model(row.name);
    EXPECT_NEAR(model.parameters() / 1e9 / row.billions, 1, row.tolerance) << row.name;
    const double active = model.active_parameters() / 1e9;
    EXPECT_NEAR(active / (row.active > 0 ? row.active : row.billions), 1, row.active_tolerance)
        << row.name << ' ' << active;
  }
}

// The table that divides tensors must name each tensor of every model in the library once, with its
// size.
TEST(ModelSizes, TensorRulesAddUpToThem) {
  for (TransformerSpec model : library_models()) {
    double sum = 0;
    for (const TensorRule& rule : tensor_rules(model)) sum += rule.parameters();
    model.biases = false;
    const double expected = model.parameters();
    const double convolutions =  // their biases do not depend on the option
        model.mamba.form().convolution_bias
            ? double(model.layers_with(has_mamba)) * model.mamba.convolved()
            : 0;
    EXPECT_NEAR(sum, expected - convolutions, 1e-9 * expected) << model.name;
  }
}

// The test of the library compares the other models of models.yaml with their papers.
TEST(ModelSizes, NoModelWithExpertsIsLeftOut) {
  std::set<std::string> names;
  for (const PublishedSize& row : kSizes) names.insert(row.name);
  for (const TransformerSpec& model : library_models()) {
    if (model.moe.experts == 0 || model.name == "grok-1") continue;
    EXPECT_TRUE(names.contains(model.name)) << model.name;
  }
}

}  // namespace
}  // namespace windtunnel

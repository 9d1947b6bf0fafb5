#include "scenarios/language/library/facts/model_names.hpp"

#include <gtest/gtest.h>

#include "models/base/error.hpp"
#include "scenarios/language/library/library.hpp"

namespace windtunnel {
namespace {

TEST(ModelNames, TheLongestThatStandsInTheText) {
  EXPECT_EQ(model_named("LLAMA3.1_8B").name, "llama3.1-8b");
  EXPECT_EQ(model_named("Llama 2 13B training and ResNet").name, "llama2-13b");
  EXPECT_EQ(model_named("Qwen3-30B-A3B-Base").name, "qwen3-30b-a3b");
  EXPECT_EQ(model_named("Qwen3-30B3A").name, "qwen3-30b-a3b");
  EXPECT_EQ(model_named("Qwen2.5-Math-7B").name, "qwen2.5-7b");
  EXPECT_THROW(model_named("transformers"), Error);
  EXPECT_EQ(model_called("transformers"), nullptr);
  EXPECT_EQ(model_called("Nemotron V3 Super 120B"), &find_model("nemotron-3-super"));
  // A decimal point in a name is significant.
  EXPECT_EQ(model_named("facebook/opt-1.3b").name, "opt-1.3b");
  EXPECT_EQ(model_named("facebook/opt-13b").name, "opt-13b");
  EXPECT_EQ(model_named("EleutherAI/pythia-1.4b-deduped").name, "pythia-1.4b");
  EXPECT_EQ(model_named("qwen2_5_7b").name, "qwen2.5-7b");
  EXPECT_EQ(model_named("google/gemma-2-2b").name, "gemma2-2b");
  EXPECT_EQ(model_named("google/gemma-2b").name, "gemma-2b");
  EXPECT_EQ(model_named("stabilityai/stablelm-2-1_6b").name, "stablelm-2-1.6b");
  // Later members of a family are found under an earlier one with the same dimensions.
  EXPECT_EQ(model_named("Qwen/Qwen-7B").name, "qwen1.5-7b");
  EXPECT_EQ(model_named("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B").name, "qwen2.5-7b");
  EXPECT_EQ(model_named("meta-llama/Llama-3.3-70B-Instruct").name, "llama3.1-70b");
  EXPECT_EQ(model_named("microsoft/phi-4").name, "phi4-14b");
  EXPECT_EQ(model_named("microsoft/Phi-4-mini-instruct").name, "phi4-mini");
  EXPECT_EQ(model_named("zai-org/GLM-4.5-Air").name, "glm-4.5-air");
  EXPECT_EQ(model_named("deepseek-ai/DeepSeek-R1-0528-Qwen3-8B").name, "qwen3-8b");
  EXPECT_EQ(model_named("deepseek-ai/DeepSeek-R1-Distill-Llama-8B").name, "llama3.1-8b");
  EXPECT_EQ(model_named("deepseek-ai/DeepSeek-R1").name, "deepseek-v3");
  EXPECT_EQ(model_named("01-ai/Yi-1.5-9B").name, "yi-9b");
  EXPECT_EQ(model_named("openai-community/gpt2").name, "gpt2");
  EXPECT_EQ(model_named("openai-community/gpt2-xl").name, "gpt2-xl");
}

}  // namespace
}  // namespace windtunnel

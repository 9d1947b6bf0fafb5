#include "scenarios/language/library/facts/model_names.hpp"

#include <gtest/gtest.h>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

TEST(ModelNames, TheLongestThatStandsInTheText) {
  EXPECT_EQ(model_named("LLAMA3.1_8B").name, "llama3.1-8b");
  EXPECT_EQ(model_named("Llama 2 13B training and ResNet").name, "llama2-13b");
  EXPECT_EQ(model_named("Qwen3-30B-A3B-Base").name, "qwen3-30b-a3b");
  EXPECT_EQ(model_named("Qwen3-30B3A").name, "qwen3-30b-a3b");
  EXPECT_EQ(model_named("Qwen2.5-Math-7B").name, "qwen2.5-7b");
  EXPECT_THROW(model_named("transformers"), Error);
}

}  // namespace
}  // namespace windtunnel

#include "scenarios/language/text/synonyms.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

TEST(Synonyms, WhatOthersCallIt) {
  EXPECT_EQ(unknown_word("model key", "vocab", {"heads", "vocabulary"}),
            "unknown model key 'vocab'; did you mean 'vocabulary'?");
  EXPECT_EQ(nearest_word("fsdp", {"none", "zero1", "zero3"}), "zero3");
  EXPECT_EQ(nearest_word("ethernet", {"infiniband", "roce", "tcp"}), "roce");
  EXPECT_EQ(nearest_word("fsdp", {"megatron", "torchtitan"}), "torchtitan");
}

TEST(Synonyms, OnlyWhatIsKnownThere) {
  EXPECT_EQ(nearest_word("topk", {"experts", "per_token"}), "per_token");
  EXPECT_EQ(unknown_word("name", "topk", {"a", "b"}), "unknown name 'topk'; known: a, b");
  EXPECT_EQ(nearest_word("vocabulari", {"heads", "vocabulary"}), "vocabulary") << "as ever";
}

}  // namespace
}  // namespace windtunnel

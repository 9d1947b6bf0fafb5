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

// If only the name were replaced, the job would shard over all replicas.
TEST(Synonyms, WhatHasToBeSaidBesides) {
  for (const char* name : {"hsdp", "hybrid_shard", "mics"}) {
    EXPECT_EQ(unknown_word("sharding", name, {"none", "zero1", "zero2", "zero3"}),
              std::string("unknown sharding '") + name +
                  "'; write zero3 with layout.shard_ranks: GPUs of one copy");
  }
  EXPECT_EQ(nearest_word("full_shard", {"none", "zero2", "zero3"}), "zero3");
}

TEST(Synonyms, OnlyWhatIsKnownThere) {
  EXPECT_EQ(nearest_word("topk", {"experts", "per_token"}), "per_token");
  EXPECT_EQ(unknown_word("name", "topk", {"a", "b"}), "unknown name 'topk'; known: a, b");
  EXPECT_EQ(nearest_word("vocabulari", {"heads", "vocabulary"}), "vocabulary") << "as ever";
}

}  // namespace
}  // namespace windtunnel

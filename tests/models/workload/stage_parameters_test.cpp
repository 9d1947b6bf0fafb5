#include "models/workload/stage_parameters.hpp"

#include <gtest/gtest.h>

#include "tests/models/cost/cost_fixtures.hpp"

namespace windtunnel {
namespace {

TEST(StageParameters, CoverTheModel) {
  const auto one = stage_parameters(llama3_8b(), {});
  // 128,256 is a multiple of 128, so that the vocabulary is not padded.
  EXPECT_EQ(one[0], llama3_8b().parameters());
  TransformerSpec gpt = gpt3_175b();
  EXPECT_EQ(stage_parameters(gpt, {})[0], gpt.parameters());
  // Tied embeddings are on the first and on the last rank.
  const auto stages = stage_parameters(gpt, {.pp = 4});
  EXPECT_EQ(stages[0] + stages[1] + stages[2] + stages[3], gpt.parameters() + 51200.0 * 12288);
}

}  // namespace
}  // namespace windtunnel

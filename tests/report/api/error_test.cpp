#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/report/api/small_case.hpp"

namespace windtunnel {
namespace {

TEST(PublicError, KnowsThePlaceInTheText) {
  const Error error =
      error_of([] { Case::from_text(kSmall + "precision: bf17\n", "small.yaml").check(); });
  EXPECT_EQ(error.file(), "small.yaml");
  EXPECT_EQ(error.line(), 13);
  EXPECT_EQ(error.column(), 12);
  EXPECT_EQ(error.key(), "precision");
  EXPECT_EQ(error.cause(), Error::Cause::input);
  EXPECT_EQ(error.what(), "small.yaml:13:12: " + error.text());
}

TEST(PublicError, KnowsTheKeyThatWasSet) {
  Case the_case = small_case();
  const Error error = error_of([&] { the_case.set("batch.global", "0").check(); });
  EXPECT_EQ(error.key(), "batch.global");
  EXPECT_EQ(error.file(), "");
  EXPECT_EQ(error.line(), 0);
  EXPECT_TRUE(std::string(error.what()).starts_with("batch.global: "));
}

TEST(PublicError, KnowsThePlaceInAConfiguration) {
  const std::string path = ::testing::TempDir() + "/launch.sh";
  std::ofstream(path) << "torchrun --nnodes 2 --nproc-per-node 8 pretrain_gpt.py \\\n"
                         "  --num-layers 32 --hidden-size 1536 --num-attention-heads 12 \\\n"
                         "  --seq-length 4096 --vocab-size 32000 --bf16 \\\n"
                         "  --micro-batch-size 1 --global-batch-size 64 \\\n"
                         "  --tensor-model-parallel-size 8\n";
  Case the_case = Case::from_file(path);
  the_case.set("cluster.node", "dgx-h100");
  const Error error = error_of([&] { the_case.check(); });
  std::filesystem::remove(path);
  EXPECT_EQ(error.file(), path);
  EXPECT_EQ(error.line(), 5) << error.what();
  EXPECT_EQ(error.key(), "layout.tp") << error.what();
}

TEST(PublicError, SaysThatTheJobDoesNotFit) {
  Case the_case = small_case();
  the_case.set("model", "llama3-405b");
  EXPECT_EQ(error_of([&] { simulate(the_case); }).cause(), Error::Cause::failed);
}

}  // namespace
}  // namespace windtunnel

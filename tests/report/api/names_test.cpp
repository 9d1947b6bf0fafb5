#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/report/api/small_case.hpp"

namespace windtunnel {
namespace {

using ::testing::Contains;

TEST(PublicNames, AreThoseThatAKeyTakes) {
  EXPECT_THAT(names("model"), Contains("llama3-8b"));
  EXPECT_THAT(names("cluster.node"), Contains("dgx-h100"));
  EXPECT_THAT(names("schedule"), Contains("zb-v"));
  EXPECT_THAT(names("snapshots"), Contains("gemini"));
  EXPECT_THAT(names("precision"), Contains("bf16"));
  EXPECT_THAT(names("batch.global"), ::testing::IsEmpty());
  EXPECT_THAT(error_of([] { names("scedule"); }).what(), ::testing::HasSubstr("'schedule'"));
}

TEST(PublicNames, AllKeysHaveHelp) {
  EXPECT_GT(keys().size(), 100u);
  EXPECT_THAT(keys(), Contains(::testing::Field(&Key::path, "layout.tp")));
}

TEST(PublicNames, VersionBeginsWithANumber) {
  EXPECT_THAT(version(), ::testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+.*"));
}

}  // namespace
}  // namespace windtunnel

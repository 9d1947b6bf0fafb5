#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(PublicError, SaysThatTheJobDoesNotFit) {
  Case the_case = small_case();
  the_case.set("model", "llama3-405b");
  EXPECT_EQ(error_of([&] { simulate(the_case); }).cause(), Error::Cause::failed);
}

}  // namespace
}  // namespace windtunnel

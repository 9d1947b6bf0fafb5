#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenarios/language/resolve/resolve.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

using testing::HasSubstr;

TEST(LearningRates, AreReadInOrder) {
  const auto rates = parse_learning_rates("step,rate\n0,0.001\n100,0.0005\n", "lr.csv");
  ASSERT_EQ(rates.size(), 2U);
  EXPECT_EQ(rates[1].step, 100);
  EXPECT_EQ(rates[1].rate, 0.0005);
}

TEST(LearningRates, MistakesHaveTheirPlace) {
  const auto fault = [](const char* text) {
    return error_of([&] { parse_learning_rates(text, "lr.csv"); });
  };
  EXPECT_THAT(fault("step,rate\n0,1\n0,1\n"), HasSubstr("lr.csv:3:1: step: must be above"));
  EXPECT_THAT(fault("step,rate\n0,-1\n"), HasSubstr("lr.csv:2:2: rate: must not be negative"));
  EXPECT_THAT(fault("step,rate\n0,1\n"), HasSubstr("two rows"));
  EXPECT_THAT(fault("step,lr\n0,1\n"), HasSubstr("rate"));
  EXPECT_THAT(fault("step,rate\n0,abc\n"), HasSubstr("lr.csv:2:"));
}

}  // namespace
}  // namespace windtunnel

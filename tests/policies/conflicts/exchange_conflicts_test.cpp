#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/base/error.hpp"
#include "policies/conflicts/conflict.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

std::string refusal_of(int layers, int tp = 1) {
  Job job = small_job(1, 1, 4);
  job.layout.tp = tp;
  job.model.layers = layers;
  job.layout.sharding = Sharding::zero3;
  job.communication.compressors.dp.name = "powersgd";
  try {
    check_conflicts(exchange_conflicts(), job);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// Advice that a GPU has no room for says so.
TEST(ExchangeConflicts, AdviseWhatFits) {
  EXPECT_TRUE(refusal_of(8).ends_with("take layout.sharding: none")) << refusal_of(8);
  EXPECT_THAT(refusal_of(1000), testing::HasSubstr("for which there is no room: weights, gradients "
                                                   "and optimizer state alone are"));
}

// The division that it names leaves room, and one less does not.
TEST(ExchangeConflicts, NameADivisionThatHasRoom) {
  const std::string text = refusal_of(1000);
  const std::string words = "tp x pp is ";
  const std::size_t at = text.find(words);
  ASSERT_NE(at, std::string::npos) << text;
  const int divided = std::stoi(text.substr(at + words.size()));
  ASSERT_GT(divided, 1);
  EXPECT_THAT(refusal_of(1000, divided), testing::Not(testing::HasSubstr("no room")));
  EXPECT_THAT(refusal_of(1000, divided - 1), testing::HasSubstr("no room"));
}

}  // namespace
}  // namespace windtunnel

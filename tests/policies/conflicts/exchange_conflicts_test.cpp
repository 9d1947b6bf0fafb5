#include "policies/conflicts/exchange_conflicts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/base/error.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

std::string refusal_of(int layers) {
  Job job = small_job(1, 1, 4);
  job.model.layers = layers;
  job.layout.sharding = Sharding::zero3;
  job.communication.compressors.dp.name = "powersgd";
  try {
    check_gradient_exchange(job);
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

}  // namespace
}  // namespace windtunnel

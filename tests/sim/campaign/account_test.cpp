#include "sim/campaign/account.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

// This is the example of A. Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation
// endlicher Summen", 1974: plain and Kahan summation both give 0.
TEST(CompensatedSum, KeepsWhatALargeNumberHides) {
  CompensatedSum sum;
  for (const double value : {1.0, 1e100, 1.0, -1e100}) sum.add(value);
  EXPECT_EQ(sum.value(), 2);
}

// The job runs ten iterations of 10 s. A failure cuts an eleventh after 4 s and the last three are
// run again: 70 + 3 * 10 s are useful, 3 * 10 + 4 s are lost.
TEST(Account, WhatIsRunAgainIsLost) {
  CampaignInputs inputs;
  inputs.table.iteration_s = {10};
  const CampaignPlan plan(inputs);
  const int pace = plan.pace_index(0, kNoSlowNode);
  Account account(plan);
  const auto run = [&](std::int64_t head, std::int64_t iterations) {
    Steps steps;
    steps.total = iterations;
    account.begin(head, pace);
    account.execute(pace, steps);
  };
  run(0, 10);
  account.cut(4);
  account.spend(Loss::restart, 30);
  run(7, 3);
  TrialResult result;
  account.close(10, 164, result);
  EXPECT_DOUBLE_EQ(result.useful_s, 100);
  EXPECT_DOUBLE_EQ(result.lost_s[static_cast<int>(Loss::redo)], 34);
  EXPECT_DOUBLE_EQ(result.lost_s[static_cast<int>(Loss::restart)], 30);
  EXPECT_EQ(result.iterations, 10);
  EXPECT_THROW(account.close(10, 165, result), InternalError);  // 1 s is missing
}

}  // namespace
}  // namespace windtunnel

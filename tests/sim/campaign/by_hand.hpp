// Helpers give failures at stated times and compare accounts that were worked out by hand.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/campaign/campaign.hpp"

namespace windtunnel::by_hand {

inline FailureClass traced(FailureKind kind, std::vector<double> times_s,
                           std::vector<std::int32_t> nodes = {}) {
  FailureClass result;
  result.name = "failure";
  result.kind = kind;
  result.arrivals = Arrivals::trace;
  result.trace_s = std::move(times_s);
  result.trace_nodes = std::move(nodes);
  return result;
}

struct ExpectedAccount {
  std::int64_t iterations;
  double wall_s, stall_s, redo_s, detect_s, restart_s, degraded_s, wait_s;
};

inline void expect_account(const TrialResult& result, const ExpectedAccount& expected,
                           double iteration_s = 10) {
  const auto lost_s = [&](Loss loss) { return result.lost_s[static_cast<int>(loss)]; };
  EXPECT_EQ(result.iterations, expected.iterations);
  EXPECT_DOUBLE_EQ(result.wall_s, expected.wall_s);
  EXPECT_DOUBLE_EQ(lost_s(Loss::stall), expected.stall_s);
  EXPECT_DOUBLE_EQ(lost_s(Loss::redo), expected.redo_s);
  EXPECT_DOUBLE_EQ(lost_s(Loss::detect), expected.detect_s);
  EXPECT_DOUBLE_EQ(lost_s(Loss::restart), expected.restart_s);
  EXPECT_DOUBLE_EQ(lost_s(Loss::degraded), expected.degraded_s);
  EXPECT_DOUBLE_EQ(lost_s(Loss::wait), expected.wait_s);
  if (expected.degraded_s == 0) {
    EXPECT_DOUBLE_EQ(result.useful_s, static_cast<double>(expected.iterations) * iteration_s);
  }
}

}  // namespace windtunnel::by_hand

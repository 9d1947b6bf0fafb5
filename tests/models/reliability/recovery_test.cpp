#include "models/reliability/recovery.hpp"

#include <gtest/gtest.h>

#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

TEST(Recovery, WhatCannotBeIsRefused) {
  EXPECT_NO_THROW(check_recovery({}, 1));
  const auto refused = [](const auto& change) {
    RecoveryPolicy recovery;
    change(recovery);
    return error_of([&] { check_recovery(recovery, 4); });
  };
  EXPECT_EQ(refused([](RecoveryPolicy& recovery) {
              recovery.spares = 2;
              recovery.hot_spares = 3;
            }),
            "recovery.hot_spares: 3 hot spares are more than the 2 spares; set recovery.spares to "
            "3 or more");
  EXPECT_EQ(refused([](RecoveryPolicy& recovery) {
              recovery.success = 0.0005;
              recovery.restart_s = 0;
            }),
            "recovery.restart must be more than 0 where recovery.success is below 0.001");
  EXPECT_EQ(refused([](RecoveryPolicy& recovery) { recovery.elastic.groups = 8; }),
            "recovery.elastic.groups: 8 groups need at least as many nodes; the job has 4");
}

}  // namespace
}  // namespace windtunnel

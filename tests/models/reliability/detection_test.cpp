#include "models/reliability/detection.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace windtunnel {
namespace {

constexpr FailureKind kKinds[] = {
    FailureKind::process,          FailureKind::node,      FailureKind::planned,
    FailureKind::network,          FailureKind::hang,      FailureKind::slow_node,
    FailureKind::corrupt_snapshot, FailureKind::loss_spike};

TEST(Detection, TheFirstThatSeesIt) {
  const Detection all{.heartbeat_s = 15, .misses = 3, .timeout_s = 600, .watchdog_s = 30};
  EXPECT_DOUBLE_EQ(detection_s(all, FailureKind::node), 30);
  EXPECT_DOUBLE_EQ(detection_s(all, FailureKind::hang), 30);
  EXPECT_DOUBLE_EQ(detection_s(all, FailureKind::slow_node), 30);
  Detection heartbeats = all;
  heartbeats.watchdog_s = 0;
  EXPECT_DOUBLE_EQ(detection_s(heartbeats, FailureKind::process), 37.5);
  EXPECT_DOUBLE_EQ(detection_s(heartbeats, FailureKind::hang), 600) << "it still sends heartbeats";
  EXPECT_DOUBLE_EQ(detection_s(heartbeats, FailureKind::network), 600);
  EXPECT_TRUE(std::isinf(detection_s(heartbeats, FailureKind::slow_node)));
  EXPECT_TRUE(std::isinf(detection_s({.timeout_s = 0}, FailureKind::node)));
}

// Averages, over the moment of death, the time until `misses` heartbeats in a row are missing.
TEST(Detection, HeartbeatsByEnumeration) {
  const double interval = 10;
  for (const int misses : {1, 2, 5}) {
    double sum = 0;
    const int steps = 1000;
    for (int i = 0; i < steps; ++i) {
      const double died = interval * (i + 0.5) / steps;  // after the last heartbeat at 0
      sum += misses * interval - died;
    }
    const Detection detection{.heartbeat_s = interval, .misses = misses, .timeout_s = 0};
    EXPECT_NEAR(detection_s(detection, FailureKind::node), sum / steps, 1e-9) << misses;
  }
}

TEST(Detection, MoreEyesNeverSeeLater) {
  for (const FailureKind kind : kKinds) {
    for (int had = 0; had < 8; ++had) {
      for (int more = 0; more < 3; ++more) {
        const auto with = [](int eyes) {
          return Detection{.heartbeat_s = (eyes & 1) != 0 ? 5.0 : 0,
                           .timeout_s = (eyes & 2) != 0 ? 600.0 : 0,
                           .watchdog_s = (eyes & 4) != 0 ? 30.0 : 0};
        };
        EXPECT_LE(detection_s(with(had | (1 << more)), kind), detection_s(with(had), kind));
      }
    }
  }
}

TEST(Detection, WhatShowsItselfTakesNoTime) {
  for (const FailureKind kind :
       {FailureKind::planned, FailureKind::corrupt_snapshot, FailureKind::loss_spike}) {
    EXPECT_EQ(detection_s({}, kind), 0);
  }
}

}  // namespace
}  // namespace windtunnel

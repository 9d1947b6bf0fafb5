#include <gtest/gtest.h>

#include "tests/cli/sweep_kills.hpp"

namespace windtunnel {
namespace {

TEST(SweepKills, TwentyAtRandomMoments) {
  expect_sweep_survives_kills(
      "scenarios/small.yaml --replicas 40 "
      "--vary 'failures.*.rate=2 per 1000 node-days:40 per 1000 node-days:20log' "
      "--vary 'snapshots.0.every=2 min:4 h:30log' ",
      600, 20);
}

}  // namespace
}  // namespace windtunnel

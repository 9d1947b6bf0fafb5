#include <gtest/gtest.h>

#include "tests/validate/harness/drill/random_drill.hpp"

namespace windtunnel {
namespace {

TEST(DrillLong, TwoHundredRandomKillsEndAsForeseen) {
  const DrillCount counted = run_random_drills(1000, 200);
  EXPECT_GE(counted.recovered, 100);
  EXPECT_GE(counted.unrecoverable, 20);
}

}  // namespace
}  // namespace windtunnel

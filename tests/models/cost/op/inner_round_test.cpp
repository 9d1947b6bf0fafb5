#include "models/cost/op/inner_round.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

InnerCollective lasting(double seconds) {
  InnerCollective collective;
  collective.seconds = seconds;
  collective.transfer_s = seconds / 2;
  collective.bytes = 10 * seconds;
  return collective;
}

InnerRound round_of(std::vector<InnerCollective> collectives, double beside_s, double slowdown) {
  InnerRound round;
  round.collectives = std::move(collectives);
  round.beside_s = beside_s;
  round.slowdown = slowdown;
  return round;
}

TEST(InnerRound, ShowsWhatTheComputeBesideItDoesNotCover) {
  EXPECT_EQ(exposed_s(round_of({lasting(3), lasting(2)}, 0, 0)), 5);
  EXPECT_EQ(exposed_s(round_of({lasting(3), lasting(2)}, 4, 0)), 1);
  EXPECT_EQ(exposed_s(round_of({lasting(3)}, 4, 0)), 0);
}

// Kernels take 1.25 times as long during a collective. Compute of 4 s lasts 5 s beside a collective
// of 8 s, which then runs on for 3 s: 8 s in all, 4 s more than the compute alone. During a
// collective of 2.5 s it gets 2 s of its work done and ends 0.5 s later.
TEST(InnerRound, SlowsTheComputeBesideIt) {
  EXPECT_DOUBLE_EQ(exposed_s(round_of({lasting(8)}, 4, 0.25)), 4);
  EXPECT_DOUBLE_EQ(exposed_s(round_of({lasting(2.5)}, 4, 0.25)), 0.5);
}

// A round takes as long as the longer of the collective and of the compute that it slows.
TEST(InnerRound, EndsWithTheLaterOfBoth) {
  for (const double beside_s : {0.0, 1.0, 3.0, 10.0}) {
    for (const double slowdown : {0.0, 0.1, 1.0}) {
      const InnerRound round = round_of({lasting(3)}, beside_s, slowdown);
      EXPECT_NEAR(beside_s + exposed_s(round), std::max(3.0, beside_s + slowed_s(round)), 1e-12);
    }
  }
}

TEST(InnerRound, AShareHasItsShareOfBytesAndTime) {
  InnerCollective whole = lasting(4);
  whole.kernels_s = 2;
  const InnerCollective quarter = shares_of({whole}, 0.25).front();
  EXPECT_EQ(quarter.seconds, 1);
  EXPECT_EQ(quarter.transfer_s, 0.5);
  EXPECT_EQ(quarter.bytes, 10);
  EXPECT_EQ(quarter.kernels_s, 0.5);
}

}  // namespace
}  // namespace windtunnel

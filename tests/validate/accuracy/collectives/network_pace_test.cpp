#include <gtest/gtest.h>

#include "validate/accuracy/collectives/collective_machine.hpp"

namespace windtunnel {
namespace {

TEST(NetworkPace, OneSidedPointsNameTheRatio) {
  const NetworkPace slow = pace_of({0.45, 0.46, 0.5, 0.44, 1.1});
  EXPECT_TRUE(slow.one_sided());
  EXPECT_DOUBLE_EQ(slow.ratio, 0.46);
  EXPECT_EQ(pace_text(slow, "what is predicted"),
            "reaches 46 % of what is predicted (median of 5 points, 4 of them slower)");
  EXPECT_EQ(pace_text(pace_of({2, 2, 2}), "it"),
            "reaches 200 % of it (median of 3 points, 3 of them faster)");
}

TEST(NetworkPace, NoiseIsNot) {
  EXPECT_FALSE(pace_of({}).one_sided());
  EXPECT_FALSE(pace_of({0.9, 0.85, 0.95}).one_sided());        // close to 1
  EXPECT_FALSE(pace_of({0.5, 0.6, 0.7, 1.5, 2}).one_sided());  // to both sides
  EXPECT_FALSE(pace_text(pace_of({1, 1.1, 0.9}), "it").has_value());
}

}  // namespace
}  // namespace windtunnel

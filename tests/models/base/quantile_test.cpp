#include "models/base/quantile.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

TEST(Quantile, IsLinearBetweenValues) {
  EXPECT_EQ(quantile({3, 1, 2}, 0.5), 2);
  EXPECT_EQ(quantile({3, 1, 2}, 1), 3);
  EXPECT_EQ(quantile({3, 1, 2}, 0), 1);
  EXPECT_NEAR(quantile({0, 10}, 0.1), 1, 1e-12);
  EXPECT_EQ(median({4, 1, 2, 8}), 3);
  EXPECT_EQ(quantile_of_sorted({7}, 0.3), 7);
}

}  // namespace
}  // namespace windtunnel

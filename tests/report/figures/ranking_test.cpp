#include <gtest/gtest.h>

#include <cmath>

#include "report/figures/figures.hpp"

namespace windtunnel {
namespace {

TEST(Ranking, WhatFitsThenWhatIsKnownThenWhatIsMore) {
  const double unknown = std::nan("");
  EXPECT_EQ(best_first({{false, 9}, {true, unknown}, {true, -1}, {true, 2}, {true, 2}}),
            (std::vector<std::size_t>{3, 4, 2, 1, 0}));
  EXPECT_EQ(best_first({{false, unknown}, {false, 1}}), (std::vector<std::size_t>{1, 0}));
}

}  // namespace
}  // namespace windtunnel

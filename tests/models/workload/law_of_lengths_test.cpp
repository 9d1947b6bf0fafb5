#include "models/workload/law_of_lengths.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

TEST(LawOfLengths, DrawsHaveTheMean) {
  for (const double mean : {20.0, 400.0, 1500.0, 3000.0, 3600.0, 3896.0}) {
    const LengthDistribution law = lengths_of_mean(mean, 3896, 0.8);
    const std::vector<int> lengths = draw_lengths(law, 40000, 1);
    const double sum = std::accumulate(lengths.begin(), lengths.end(), 0.0);
    EXPECT_NEAR(sum / 40000 / mean, 1, 0.02) << mean;
    EXPECT_EQ(law.longest, 3896);
  }
}

TEST(LawOfLengths, KeepsSigmaWhileTheMedianFits) {
  EXPECT_NEAR(lengths_of_mean(1000, 1e8, 0.8).sigma, 0.8, 1e-12);
  EXPECT_NEAR(lengths_of_mean(1000, 1e8, 0.8).median, 1000 / std::exp(0.32), 1);
  EXPECT_LT(lengths_of_mean(3600, 3896, 0.8).sigma, 0.4);
  EXPECT_THROW(lengths_of_mean(2, 1, 0.8), Error);
  EXPECT_THROW(lengths_of_mean(0.5, 10, 0.8), Error);
}

}  // namespace
}  // namespace windtunnel

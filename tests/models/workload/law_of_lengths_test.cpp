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

// With a median of 1 the mean is exp(sigma^2 / 2): 1.377 for a sigma of 0.8.
TEST(LawOfLengths, ShortMeansHaveASmallerSigma) {
  for (const double mean : {1.0, 1.1, 1.2, 1.37}) {
    const LengthDistribution law = lengths_of_mean(mean, 1e8, 0.8);
    EXPECT_EQ(law.median, 1) << mean;
    EXPECT_NEAR(std::exp(law.sigma * law.sigma / 2), mean, 1e-9);
  }
  EXPECT_NEAR(lengths_of_mean(1.5, 1e8, 0.8).sigma, 0.8, 1e-12);
}

}  // namespace
}  // namespace windtunnel

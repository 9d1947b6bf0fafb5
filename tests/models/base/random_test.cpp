#include "models/base/random.hpp"

#include <Random123/philox.h>
#include <gtest/gtest.h>

#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <vector>

namespace windtunnel {
namespace {

constexpr int kDraws = 200000;

struct Moments {
  double mean = 0;
  double variance = 0;
};

template <class Draw>
Moments moments(Draw draw) {
  std::vector<double> values(kDraws);
  Moments result;
  for (double& value : values) {
    value = draw();
    result.mean += value / kDraws;
  }
  for (const double value : values) {
    result.variance += (value - result.mean) * (value - result.mean) / kDraws;
  }
  return result;
}

// Five standard errors of a mean.
double tolerance(double variance) {
  return 5 * std::sqrt(variance / kDraws);
}

std::uint64_t upper_63_bits(RandomStream& stream) {
  return stream.below(std::uint64_t{1} << 63);
}

TEST(Random, KnownAnswerOfPhilox) {
  // Random123's kat_vectors state these bits for philox4x32-10 with counter 0 and key 0.
  RandomStream stream(0, static_cast<RandomPurpose>(0), 0);
  EXPECT_EQ(upper_63_bits(stream), 0x6627e8d5e169c58d >> 1);
  EXPECT_EQ(upper_63_bits(stream), 0xbc57ac4c9b00dbd8 >> 1);
}

TEST(Random, CounterHoldsDrawPurposeAndIndexAndKeyTheSeed) {
  RandomStream stream(0x1122334455667788, RandomPurpose::repair, 0x99aabbccddeeff00);
  for (std::uint32_t draw = 0; draw < 3; ++draw) {
    const auto block =
        r123::Philox4x32()({{draw, 3, 0xddeeff00, 0x99aabbcc}}, {{0x55667788, 0x11223344}});
    EXPECT_EQ(upper_63_bits(stream), ((std::uint64_t{block[0]} << 32) | block[1]) >> 1);
    EXPECT_EQ(upper_63_bits(stream), ((std::uint64_t{block[2]} << 32) | block[3]) >> 1);
  }
}

TEST(Random, UniformFillsTheOpenInterval) {
  RandomStream stream(1, RandomPurpose::test, 0);
  double lowest = 1;
  double highest = 0;
  const Moments uniform = moments([&] {
    const double value = stream.uniform();
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
    return value;
  });
  EXPECT_GT(lowest, 0);
  EXPECT_LT(lowest, 1e-4);
  EXPECT_LT(highest, 1);
  EXPECT_GT(highest, 1 - 1e-4);
  EXPECT_NEAR(uniform.mean, 0.5, tolerance(1.0 / 12));
  EXPECT_NEAR(uniform.variance, 1.0 / 12, 1e-3);
}

TEST(Random, BelowIsEven) {
  RandomStream stream(1, RandomPurpose::test, 1);
  std::vector<int> counts(7, 0);
  for (int i = 0; i < kDraws; ++i) ++counts.at(stream.below(counts.size()));
  double chi_square = 0;
  const double expected = kDraws / 7.0;
  for (const int count : counts) chi_square += (count - expected) * (count - expected) / expected;
  EXPECT_LT(chi_square, 22.5);  // 99.9 % quantile of 6 degrees of freedom
}

TEST(Random, ExponentialHasMeanAndVariance) {
  RandomStream stream(1, RandomPurpose::test, 2);
  const Moments gaps = moments([&] { return stream.exponential(3); });
  EXPECT_NEAR(gaps.mean, 3, tolerance(9));
  EXPECT_NEAR(gaps.variance, 9, 0.3);
}

TEST(Random, NormalIsSymmetricAndHasItsQuantiles) {
  RandomStream stream(1, RandomPurpose::test, 5);
  int below_two = 0;
  const Moments values = moments([&] {
    const double value = stream.normal();
    below_two += value < -2;
    return value;
  });
  EXPECT_NEAR(values.mean, 0, tolerance(1));
  EXPECT_NEAR(values.variance, 1, tolerance(2));
  EXPECT_NEAR(below_two / double{kDraws}, 0.0227501, tolerance(0.0222));
}

TEST(Random, GammaHasItsDistribution) {
  for (const double shape : {0.05, 0.4, 1.0, 1.7, 30.0}) {
    RandomStream stream(1, RandomPurpose::test, 6);
    int below = 0;
    const double bound = 3 * boost::math::gamma_p_inv(shape, 0.8) / shape;
    const Moments values = moments([&] {
      const double value = stream.gamma(shape, 3);
      below += value < bound;
      return value;
    });
    const double variance = 9 / shape;
    EXPECT_NEAR(values.mean, 3, tolerance(variance)) << shape;
    EXPECT_NEAR(values.variance, variance, tolerance(variance * variance * (2 + 6 / shape)));
    EXPECT_NEAR(below / double{kDraws}, 0.8, tolerance(0.16)) << shape;
  }
}

TEST(Random, WeibullHasTheMeanAskedForAndItsShape) {
  for (const double shape : {0.5, 0.7, 1.0, 2.0}) {
    RandomStream stream(1, RandomPurpose::test, 3);
    const double first = std::tgamma(1 + 1 / shape);
    const double variance = 16 * (std::tgamma(1 + 2 / shape) / (first * first) - 1);
    int below_scale = 0;
    const Moments gaps = moments([&] {
      const double gap = stream.weibull(shape, 4);
      below_scale += gap < 4 / first;
      return gap;
    });
    EXPECT_NEAR(gaps.mean, 4, tolerance(variance)) << shape;
    EXPECT_NEAR(gaps.variance, variance, 0.1 * variance) << shape;
    // Whatever the shape, a share of 1 - 1/e lies below the scale.
    EXPECT_NEAR(below_scale / double{kDraws}, 1 - std::exp(-1), tolerance(0.25)) << shape;
  }
}

TEST(Random, WeibullResidualIsTheStationaryOne) {
  for (const double shape : {0.7, 2.0}) {
    RandomStream stream(1, RandomPurpose::test, 4);
    const double scale = 4 / std::tgamma(1 + 1 / shape);
    const double second = scale * scale * std::tgamma(1 + 2 / shape);
    const double third = scale * scale * scale * std::tgamma(1 + 3 / shape);
    const Moments wait = moments([&] { return stream.weibull_residual(shape, 4); });
    // A renewal process has residuals with the moments E[X^2] / 2 E[X] and E[X^3] / 3 E[X].
    const double mean = second / 8;
    EXPECT_NEAR(wait.mean, mean, tolerance(third / 12 - mean * mean)) << shape;
  }
}

TEST(Random, StreamsOfOtherSeedsPurposesAndIndicesAreIndependent) {
  const auto correlation = [](RandomStream a, RandomStream b) {
    return 12 * moments([&] { return (a.uniform() - 0.5) * (b.uniform() - 0.5); }).mean;
  };
  const RandomStream one(1, RandomPurpose::repair, 8);
  EXPECT_NEAR(correlation(one, one), 1, 0.02);
  const double five_errors = 5 / std::sqrt(kDraws);
  EXPECT_NEAR(correlation(one, RandomStream(2, RandomPurpose::repair, 8)), 0, five_errors);
  EXPECT_NEAR(correlation(one, RandomStream(1, RandomPurpose::failure_arrival, 8)), 0, five_errors);
  EXPECT_NEAR(correlation(one, RandomStream(1, RandomPurpose::repair, 9)), 0, five_errors);
}

}  // namespace
}  // namespace windtunnel

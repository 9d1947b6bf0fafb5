#include "kernels/compression/ternary.hpp"

#include "kernels/device/philox.cuh"
#include "models/base/error.hpp"
#include "tests/kernels/compression/ternary_properties.hpp"

namespace windtunnel {
namespace {

TEST(Ternary, CodesAreThoseOfTheDefinition) {
  expect_ternary_of_all_inputs(DeviceKind::cpu);
}

TEST(Ternary, PhiloxIsRandom123s) {
  RandomStream random(3, RandomPurpose::test, 0);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t seed = random.below(~0ULL);
    const std::uint64_t counter = random.below(~0ULL);
    const auto expected = r123::Philox4x32()(
        {{static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0, 0}},
        {{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}});
    const RandomWords words = philox(seed, counter);
    for (unsigned word = 0; word < 4; ++word) ASSERT_EQ(words.word[word], expected[word]);
  }
}

// Over all seeds the mean of the decoded values is x within five standard errors, maximum * sqrt(p
// (1 - p) / n).
TEST(Ternary, ExpectedValueIsTheElement) {
  constexpr int kSeeds = 4000;
  const Floats x = {0.0F, 0.01F, -0.1F, 0.5F, -0.9F, 2.0F, -2.0F, 1.999F};
  std::vector<double> sum(x.size());
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Floats decoded = ternary_of(DeviceKind::cpu, x, seed).decoded;
    for (std::size_t i = 0; i < x.size(); ++i) sum[i] += decoded[i];
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double p = std::abs(x[i]) / 2;
    EXPECT_NEAR(sum[i] / kSeeds, x[i], 5 * 2 * std::sqrt(p * (1 - p) / kSeeds)) << x[i];
  }
}

TEST(Ternary, RefusesWhatIsNotAligned) {
  const DeviceArray<float> x(DeviceKind::cpu, 8);
  const DeviceArray<std::uint32_t> words(DeviceKind::cpu, 4);
  EXPECT_THROW(ternary(DeviceKind::cpu).encode(x.data() + 1, 4, x.data(), 0, words.data()),
               InternalError);
}

}  // namespace
}  // namespace windtunnel

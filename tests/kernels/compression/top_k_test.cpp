#include "kernels/compression/top_k.hpp"

#include "models/base/error.hpp"
#include "tests/kernels/compression/top_k_properties.hpp"

namespace windtunnel {
namespace {

TEST(TopK, SelectsWhatASortDoes) {
  expect_selections_of_all_inputs(DeviceKind::cpu);
}

TEST(TopK, RandomChoicesAreOneFromEachPart) {
  expect_random_choices(DeviceKind::cpu);
}

TEST(TopK, TiesGoToTheLowerIndex) {
  const Floats x = {1, -2, 2, 1, -1, 3};
  EXPECT_EQ(selected(DeviceKind::cpu, x, 4), (Indices{0, 1, 2, 5}));
}

TEST(TopK, NansAreSelected) {
  Floats x(100, std::numeric_limits<float>::infinity());
  x[70] = -std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(selected(DeviceKind::cpu, x, 1), Indices{70});
}

// Over all seeds each of 12 elements is chosen equally often, within five standard deviations.
TEST(TopK, RandomChoicesAreEven) {
  constexpr int kSeeds = 3000;
  const Floats x(12);
  std::vector<int> times(x.size());
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Indices indices(3);
    Floats values(3);
    top_k(DeviceKind::cpu).random(x.data(), 12, 3, seed, indices.data(), values.data());
    for (const std::uint32_t index : indices) ++times[index];
  }
  for (const int count : times) EXPECT_NEAR(count, kSeeds / 4, 5 * std::sqrt(kSeeds * 3 / 16.0));
}

TEST(TopK, RefusesWhatCannotBe) {
  const DeviceArray<float> x(DeviceKind::cpu, 8);
  const DeviceArray<std::uint32_t> indices(DeviceKind::cpu, 8);
  const TopK& kernels = top_k(DeviceKind::cpu);
  EXPECT_THROW(kernels.select(x.data(), 4, 5, nullptr, indices.data(), x.data() + 4),
               InternalError);
  EXPECT_THROW(kernels.random(x.data(), 4, 0, 1, indices.data(), x.data() + 4), InternalError);
  EXPECT_THROW(kernels.above(x.data(), 4, -1, 4, indices.data(), x.data() + 4, indices.data()),
               InternalError);
}

}  // namespace
}  // namespace windtunnel

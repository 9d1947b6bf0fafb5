#include "kernels/compression/sketch.hpp"

#include "models/base/error.hpp"
#include "tests/kernels/compression/sketch_properties.hpp"

namespace windtunnel {
namespace {

TEST(Sketch, CountersAndMediansAreThoseOfTheDefinition) {
  expect_sketches_of_all_inputs(DeviceKind::cpu);
}

// Charikar et al. 2002: the variance of an estimate from one counter is |x|^2 / columns at most,
// and the median of three is better than one, so that the mean square error stays below that.
TEST(Sketch, ErrorIsThatOfTheTheory) {
  RandomStream random(2, RandomPurpose::test, 0);
  Floats x(20000);
  double squares = 0;
  int filled = 0;
  for (float& value : x) {
    if (random.below(10) != 0) continue;
    value = static_cast<float>(random.normal());
    squares += value * value;
    ++filled;
  }
  const std::size_t columns = 4000;
  double off = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Floats estimates = sketched(DeviceKind::cpu, x, seed, columns).estimates;
    for (std::size_t i = 0; i < x.size(); ++i) {
      off += (estimates[i] - x[i]) * (estimates[i] - x[i]) / (20.0 * filled);
    }
  }
  EXPECT_LT(off, squares / static_cast<double>(columns));
  EXPECT_GT(off, 0);
}

// The all-reduce relies on this: the sum of sketches is the sketch of the sum. Small integers are
// added exactly.
TEST(Sketch, SketchesAddUp) {
  Floats x(500), y(500), both(500);
  for (std::size_t i = 0; i < x.size(); i += 7) x[i] = static_cast<float>(i % 13) + 1;
  for (std::size_t i = 0; i < x.size(); i += 5) y[i] = 3;
  for (std::size_t i = 0; i < x.size(); ++i) both[i] = x[i] + y[i];
  SketchResult a = sketched(DeviceKind::cpu, x, 4, 100);
  const SketchResult b = sketched(DeviceKind::cpu, y, 4, 100);
  const SketchResult sum = sketched(DeviceKind::cpu, both, 4, 100);
  for (std::size_t c = 0; c < 300; ++c) EXPECT_EQ(a.counters[c] + b.counters[c], sum.counters[c]);
  for (std::size_t w = 0; w < a.bitmap.size(); ++w) {
    EXPECT_EQ(a.bitmap[w] | b.bitmap[w], sum.bitmap[w]);
  }
}

TEST(Sketch, RefusesNoColumns) {
  const DeviceArray<float> x(DeviceKind::cpu, 8);
  const DeviceArray<std::uint32_t> bitmap(DeviceKind::cpu, 4);
  EXPECT_THROW(sketch(DeviceKind::cpu).encode(x.data(), 4, 0, 0, x.data() + 4, bitmap.data()),
               InternalError);
}

}  // namespace
}  // namespace windtunnel

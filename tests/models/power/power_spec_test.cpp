#include "models/power/power_spec.hpp"

#include <gtest/gtest.h>

#include "models/base/random.hpp"
#include "tests/models/power/watts.hpp"

namespace windtunnel {
namespace {

PowerSpec spec_of(double idle_W, double peak_W) {
  PowerSpec spec;
  spec.nodes.push_back({watts(peak_W), watts(idle_W), watts(0)});
  return spec;
}

TEST(PowerSpec, AGpuDrawsBetweenIdleAndItsLimit) {
  PowerSpec spec = spec_of(100, 700);
  const NodePower& node = spec.of_pool(-1);
  EXPECT_DOUBLE_EQ(gpu_watts(spec, node, 0), 100);
  EXPECT_DOUBLE_EQ(gpu_watts(spec, node, activity_of(spec, 1, 0)), 700);
  EXPECT_DOUBLE_EQ(gpu_watts(spec, node, activity_of(spec, 0, 1)), 100 + 600 * 0.35);
  EXPECT_DOUBLE_EQ(gpu_watts(spec, node, activity_of(spec, 0.5, 0)), 400);
  EXPECT_DOUBLE_EQ(gpu_watts(spec, node, activity_of(spec, 1, 1)), 700);
}

TEST(PowerSpec, TheClockUnderACapDrawsTheCap) {
  PowerSpec spec = spec_of(100, 700);
  const NodePower& node = spec.of_pool(0);
  spec.clock_power = 2;
  spec.cap_W = 250;  // 150 W above idle of 600 W: half of the clock, squared
  EXPECT_DOUBLE_EQ(clock_under_cap(spec, node), 0.5);
  EXPECT_DOUBLE_EQ(gpu_watts(spec, node, 1), 250);
  EXPECT_DOUBLE_EQ(gpu_watts(spec, node, 0.1), 160);  // troughs stay unchanged
  spec.cap_W = 800;
  EXPECT_EQ(clock_under_cap(spec, node), 1);
}

// Each uncertain number takes both of its ends, one number at a time; GPUs' idle power stays below
// limit and cap.
TEST(PowerSpec, VariantsMoveOneNumberEach) {
  PowerSpec spec = spec_of(100, 700);
  EXPECT_TRUE(power_variants(spec).empty());
  spec.nodes.front().gpu_idle_W.low = 50;
  spec.nodes.front().gpu_idle_W.high = 300;
  spec.unsure = {{&PowerSpec::pue, 1.05, 1.6}};
  spec.cap_W = 200;
  const std::vector<PowerVariant> variants = power_variants(spec);
  ASSERT_EQ(variants.size(), 2U);
  EXPECT_EQ(variants[0].low.nodes.front().gpu_idle_W.value, 50);
  EXPECT_LT(variants[0].high.nodes.front().gpu_idle_W.value, 200);
  EXPECT_EQ(variants[0].high.pue, spec.pue);
  EXPECT_EQ(variants[1].low.pue, 1.05);
  EXPECT_EQ(variants[1].high.pue, 1.6);
  EXPECT_EQ(variants[1].high.nodes.front().gpu_idle_W.value, 100);
}

TEST(PowerSpec, AHigherCapIsNeverSlower) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    RandomStream random(seed, RandomPurpose::test, 0);
    const double idle_W = 20 + 100 * random.uniform();
    PowerSpec spec = spec_of(idle_W, idle_W + 50 + 900 * random.uniform());
    spec.computing = 0.3 + 0.7 * random.uniform();
    spec.clock_power = 1 + 2 * random.uniform();
    const NodePower& node = spec.of_pool(0);
    spec.cap_W = idle_W + 1 + 900 * random.uniform();
    const double clock = clock_under_cap(spec, node);
    const double drawn_W = gpu_watts(spec, node, spec.computing);
    EXPECT_GT(clock, 0);
    EXPECT_LE(clock, 1);
    EXPECT_LE(drawn_W, spec.cap_W);
    spec.cap_W += 100 * random.uniform();
    EXPECT_GE(clock_under_cap(spec, node), clock);
    EXPECT_GE(gpu_watts(spec, node, spec.computing), drawn_W);
  }
}

}  // namespace
}  // namespace windtunnel

#include "models/calibration/attention_speeds.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace windtunnel {
namespace {

constexpr AttentionHalves kHalves{400, 50};

AttentionSpeeds speeds() {
  AttentionSpeeds speeds{.kernel = "k", .measured_peak_flop_s = 1000e12, .curves = {}};
  const auto add = [&](bool backward, bool causal, double width, std::vector<double> flop_s) {
    speeds.curves.push_back({.backward = backward,
                             .causal = causal,
                             .width = width,
                             .tokens = {1024, 4096},
                             .flop_s = std::move(flop_s),
                             .origin = Origin::published,
                             .source = "a"});
  };
  add(false, false, 64, {300e12, 400e12});
  add(false, false, 128, {500e12, 640e12});
  add(false, true, 128, {400e12, 576e12});
  add(true, false, 128, {420e12, 560e12});
  return speeds;
}

double share(bool backward, bool causal, double width, double tokens) {
  return attention_share(speeds(), backward, causal, width, tokens, kHalves).of_peak;
}

TEST(AttentionSpeeds, MeasuredPointsComeOutAsTheyWereMeasured) {
  EXPECT_DOUBLE_EQ(share(false, false, 128, 1024), 0.5);
  EXPECT_DOUBLE_EQ(share(false, false, 128, 4096), 0.64);
  EXPECT_DOUBLE_EQ(share(false, false, 64, 4096), 0.4);
  EXPECT_DOUBLE_EQ(share(false, true, 128, 4096), 0.576);
  EXPECT_NEAR(share(false, false, 128, 2048), std::sqrt(0.5 * 0.64), 1e-12);
  EXPECT_GT(share(false, false, 96, 4096), 0.4);
  EXPECT_LT(share(false, false, 96, 4096), 0.64);
}

TEST(AttentionSpeeds, BeyondWhatWasMeasuredSpeedStaysOrRampsDown) {
  EXPECT_DOUBLE_EQ(share(false, false, 128, 1 << 20), 0.64);
  EXPECT_DOUBLE_EQ(share(false, false, 256, 4096), 0.64);
  EXPECT_DOUBLE_EQ(share(false, false, 128, 512), 0.5 * (512.0 / 912) / (1024.0 / 1424));
  EXPECT_DOUBLE_EQ(share(true, false, 64, 4096), 0.56 * (64.0 / 114) / (128.0 / 178));
}

TEST(AttentionSpeeds, AMaskCostsTheBackwardPassWhatItCostsTheForwardPass) {
  EXPECT_DOUBLE_EQ(share(true, true, 128, 4096), 0.56 * 0.576 / 0.64);
  const AttentionShare derived = attention_share(speeds(), true, true, 128, 4096, kHalves);
  EXPECT_EQ(derived.origin, Origin::assumed);
  EXPECT_EQ(attention_share(speeds(), true, false, 128, 4096, kHalves).origin, Origin::published);
}

// More keys never take less time.
TEST(AttentionSpeeds, TimeGrowsWithTheSequence) {
  double before = 0;
  for (double tokens = 16; tokens < 1e5; tokens *= 1.1) {
    const double time = tokens / share(false, true, 128, tokens);
    EXPECT_GT(time, before) << tokens;
    before = time;
  }
}

}  // namespace
}  // namespace windtunnel

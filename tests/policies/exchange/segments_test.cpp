#include "policies/exchange/segments.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "models/base/random.hpp"

namespace windtunnel {
namespace {

// Wherever segments are cut, nothing is lost, and collectives stay where they were.
TEST(Segments, CutsKeepWhatTheyCut) {
  for (std::uint64_t i = 0; i < 500; ++i) {
    RandomStream random(3, RandomPurpose::test, i);
    Segments segments(1 + random.below(4));
    double left = 1;
    for (Segment& segment : segments) {
      segment.share = &segment == &segments.back() ? left : left * random.uniform();
      left -= segment.share;
      segment.gathers.resize(random.below(2));
      segment.reductions.resize(random.below(2));
    }
    std::vector<double> cuts(random.below(6));
    for (double& cut : cuts) cut = random.uniform();
    std::ranges::sort(cuts);
    const Segments pieces = cut_at(segments, cuts);
    double share = 0;
    std::size_t gathers = 0;
    std::size_t reductions = 0;
    std::vector<double> ends;
    for (const Segment& piece : pieces) {
      ends.push_back(share += piece.share);
      gathers += piece.gathers.size();
      reductions += piece.reductions.size();
    }
    EXPECT_NEAR(share, 1, 1e-9);
    double end = 0;
    for (const Segment& segment : segments) {
      gathers -= segment.gathers.size();
      reductions -= segment.reductions.size();
      end += segment.share;
      const auto near = [&](double at) { return std::abs(at - end) < 1e-6; };
      EXPECT_TRUE(std::ranges::any_of(ends, near));
    }
    EXPECT_EQ(gathers, 0U);
    EXPECT_EQ(reductions, 0U);
    for (const double cut : cuts) {
      EXPECT_TRUE(std::ranges::any_of(ends, [&](double at) { return std::abs(at - cut) < 1e-6; }));
    }
  }
}

}  // namespace
}  // namespace windtunnel

#include "policies/exchange/contention.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

Transfer taking(double seconds) {
  return {.bytes = 1, .seconds = seconds, .starts_row = true};
}

Segments halves() {
  Segments segments(2);
  for (Segment& segment : segments) segment.share = 0.5;
  return segments;
}

// There are two segments of 1 s. During a collective kernels do 1 / 1.5 of their work: they lose
// 0.1 s in 0.3 s and 0.2 s in 0.6 s, and never more than half of their own time.
TEST(Contention, KernelsLoseWhileCollectivesRunBesideThem) {
  Segments segments = halves();
  segments[1].gathers = {taking(0.3)};
  segments[0].reductions = {taking(0.6)};
  slow_down_units(segments, 2, 0.5);
  EXPECT_DOUBLE_EQ(segments[0].slowdown, 1.1);
  EXPECT_DOUBLE_EQ(segments[1].slowdown, 1.2);
  segments[1].gathers = {taking(100)};
  slow_down_units(segments, 2, 0.5);
  EXPECT_DOUBLE_EQ(segments[0].slowdown, 1.5);
}

// Kernels on the stream of the collectives take their whole time from the segment beside them.
TEST(Contention, KernelsOfTransfersTakeTheirTimeFromTheSegment) {
  Segments segments = halves();
  segments[1].gathers = {taking(0.3)};
  segments[1].gathers[0].kernels = {{Category::compression, Origin::spec, 0.25}};
  slow_down_units(segments, 2, 0.5);
  EXPECT_DOUBLE_EQ(segments[0].slowdown, 1.1);
  segments[1].gathers[0].kernels_beside = true;
  slow_down_units(segments, 2, 0.5);
  EXPECT_DOUBLE_EQ(segments[0].slowdown, 1.1 + 0.25);
}

// Nothing runs beside the first segment of a backward pass; its bucket of 0.6 s runs beside the
// second.
TEST(Contention, ABucketRunsBesideTheSegmentBehindIt) {
  Segments segments = halves();
  segments[0].reductions = {taking(0.6)};
  slow_down_buckets(segments, 2, 0.5);
  EXPECT_DOUBLE_EQ(segments[0].slowdown, 1);
  EXPECT_DOUBLE_EQ(segments[1].slowdown, 1.2);
}

// Two concurrent reductions take a + 1.5 b s (Shi, Chu, Li, INFOCOM 2021): 1 + 1.5 * 5 s, where one
// takes 1 + 5 s.
TEST(Contention, TwoReductionsAtOnceTakeHalfAsLongAgain) {
  Segments segments(1);
  segments[0].reductions = {taking(6), taking(6)};
  run_two_at_once(segments, 0, 1);
  for (const Transfer& transfer : segments[0].reductions) {
    EXPECT_DOUBLE_EQ(transfer.seconds + transfer.longer_s, 8.5);
  }
  EXPECT_NE(segments[0].reductions[0].second_channel, segments[0].reductions[1].second_channel);
  EXPECT_DOUBLE_EQ(seconds_of(segments[0].reductions), 8.5);
}

}  // namespace
}  // namespace windtunnel

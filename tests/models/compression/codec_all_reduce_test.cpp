#include "models/compression/codec_all_reduce.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace windtunnel {
namespace {

// Four MI300X, microseconds (github.com/vllm-project/vllm/pull/19744): plain fp16 and QuickReduce
// with 8, 6 and 4 bits, scales of 16 bits for blocks of 32.
struct Row {
  double bytes, plain, int8, int6, int4;
};
constexpr std::array<Row, 9> kRows = {{{2048, 7.18, 23.89, 25.62, 21.33},
                                       {16384, 7.26, 23.69, 25.84, 21.29},
                                       {32768, 7.58, 23.81, 25.94, 21.27},
                                       {262144, 14.39, 26.78, 27.48, 22.85},
                                       {524288, 14.65, 27.12, 27.98, 23.65},
                                       {1048576, 22.91, 29.43, 29.85, 24.72},
                                       {2097152, 36.64, 40.97, 39.27, 28.49},
                                       {4194304, 63.86, 66.95, 54.81, 37.49},
                                       {8388608, 118.31, 126.43, 99.41, 64.23}}};
constexpr double kShortestWithoutCodec_us = 12.67;  // QuickReduce with fp16, 2 KiB
constexpr double kLarge_bytes = 1e6;

// Plain times from 1 MB on by least squares of relative errors, what a codec adds at 2 KiB, and the
// codec's rate from int8 alone: 4 and 6 bits are predicted.
CodecAllReduce fitted() {
  CodecAllReduce law = {.ranks = 4};
  double aa = 0, ab = 0, bb = 0, sa = 0, sb = 0;
  for (const Row& row : kRows) {
    if (row.bytes < kLarge_bytes) continue;
    const double a = 1 / row.plain;
    const double b = row.bytes / row.plain;
    aa += a * a;
    ab += a * b;
    bb += b * b;
    sa += a;
    sb += b;
  }
  const double determinant = aa * bb - ab * ab;
  law.start_s = 1e-6 * (sa * bb - sb * ab) / determinant;
  law.s_per_byte = 1e-6 * (aa * sb - ab * sa) / determinant;
  const Row& shortest = kRows.front();
  law.codec_start_s =
      1e-6 * ((shortest.int8 + shortest.int6 + shortest.int4) / 3 - kShortestWithoutCodec_us);
  // Without a codec's bytes, and per second of them.
  law.codec_Bps = std::numeric_limits<double>::infinity();
  CodecAllReduce unit = law;
  unit.codec_Bps = 1;
  double up = 0, down = 0;
  for (const Row& row : kRows) {
    if (row.bytes < kLarge_bytes) continue;
    const double time_s = 1e-6 * row.int8;
    const double rest = (time_s - law.seconds(8, row.bytes)) / time_s;
    const double each = (unit.seconds(8, row.bytes) - law.seconds(8, row.bytes)) / time_s;
    up += rest * each;
    down += each * each;
  }
  law.codec_Bps = down / up;
  return law;
}

// Where the difference to plain changes its sign, between two sizes; infinite: nowhere.
double measured_crossover(double Row::*time) {
  for (size_t i = 1; i < kRows.size(); ++i) {
    const double before = kRows[i - 1].*time - kRows[i - 1].plain;
    const double after = kRows[i].*time - kRows[i].plain;
    if (after > 0) continue;
    return kRows[i - 1].bytes + (kRows[i].bytes - kRows[i - 1].bytes) * before / (before - after);
  }
  return std::numeric_limits<double>::infinity();
}

TEST(CodecAllReduce, CrossoversOfQuickReduceAreWithinAFactorOfTwo) {
  const CodecAllReduce law = fitted();
  EXPECT_GT(law.codec_Bps, 0);
  EXPECT_LT(law.codec_Bps, 5.3e12);  // of the memory
  const double int4 = law.crossover_bytes(4) / measured_crossover(&Row::int4);
  const double int6 = law.crossover_bytes(6) / measured_crossover(&Row::int6);
  EXPECT_NEAR(std::log2(int4), 0, 1) << law.crossover_bytes(4);
  EXPECT_NEAR(std::log2(int6), 0, 1) << law.crossover_bytes(6);
  // int8 is never faster up to the largest size; predicted is at most a factor of two below it.
  EXPECT_TRUE(std::isinf(measured_crossover(&Row::int8)));
  EXPECT_GT(law.crossover_bytes(8), kRows.back().bytes / 2);
}

TEST(CodecAllReduce, FewerBitsCrossEarlier) {
  const CodecAllReduce law = fitted();
  EXPECT_LT(law.crossover_bytes(4), law.crossover_bytes(6));
  EXPECT_LT(law.crossover_bytes(6), law.crossover_bytes(8));
  for (const double bits : {4.0, 6.0, 8.0}) {
    const double crossover = law.crossover_bytes(bits);
    EXPECT_NEAR(law.seconds(bits, crossover), law.plain_s(crossover), 1e-12);
    EXPECT_GT(law.seconds(bits, crossover / 2), law.plain_s(crossover / 2));
  }
}

TEST(CodecAllReduce, ByHand) {
  const CodecAllReduce law = {.start_s = 1e-6,
                              .s_per_byte = 1e-11,
                              .codec_start_s = 2e-6,
                              .codec_Bps = 1e12,
                              .ranks = 2,
                              .block = 64};
  // 4 bits and 2/64 of a byte: 0.53125 of 2 on the links; 2 (2 + 0.53125) + 1.5 * 0.53125 in HBM.
  const double each = (0.53125e-11 + 5.859375e-12) / 2;
  EXPECT_NEAR(law.seconds(4, 1e6), 3e-6 + 1e6 * each, 1e-15);
  EXPECT_NEAR(law.crossover_bytes(4), 2e-6 / (1e-11 - each), 1e-3);
  CodecAllReduce slow = law;
  slow.codec_Bps = 1e11;
  EXPECT_TRUE(std::isinf(slow.crossover_bytes(4)));
}

}  // namespace
}  // namespace windtunnel

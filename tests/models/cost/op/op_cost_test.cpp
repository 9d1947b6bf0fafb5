#include "models/cost/op/op_cost.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "models/base/random.hpp"
#include "tests/models/cost/cost_fixtures.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/straight_laws.hpp"

namespace windtunnel {
namespace {

Op gemm(double m, double n, double k, double batch = 1) {
  Op op;
  op.name = "gemm";
  op.kind = OpKind::gemm;
  op.m = m;
  op.n = n;
  op.k = k;
  op.batch = batch;
  op.flops = 2 * batch * m * n * k;
  op.bytes = 2 * batch * (m * k + k * n + m * n);
  return op;
}

Op attention(double sequence, double heads) {
  Op op;
  op.kind = OpKind::attention_forward;
  op.m = op.n = sequence;
  op.k = 128;
  op.batch = heads;
  op.flops = 2 * heads * sequence * sequence * 128;
  op.bytes = 8 * heads * sequence * 128;
  return op;
}

Op memory(double bytes) {
  Op op;
  op.bytes = bytes;
  return op;
}

double seconds(const Op& op, Precision precision = Precision::bf16) {
  return op_cost(op, test_cluster().node.gpu, precision, test_calibration()).seconds;
}

constexpr double kLaunch_s = 2e-6;
constexpr double kSustained = 0.75;

// For equal operations, heads of 64 take (64 + w) / 64 over (128 + w) / 128 of the time of heads of
// 128, where w is the half-width.
TEST(OpCost, NarrowHeadsWaitForExponentials) {
  Calibration c = test_calibration();
  const auto seconds = [&](double width) {
    Op op = attention(16384, 64 * 128 / width);
    op.k = width;
    op.flops = 2.0 * 64 * 16384 * 16384 * 128;
    op.bytes = 0;
    return op_cost(op, test_cluster().node.gpu, Precision::bf16, c).seconds - kLaunch_s;
  };
  c.attention_half_width = parameter(66);
  const double wide_s = seconds(128);
  EXPECT_NEAR(seconds(64) / wide_s, (130.0 / 64) / (194.0 / 128), 1e-9);
  c.attention_half_width = parameter(0);
  EXPECT_NEAR(seconds(64), wide_s, 1e-9 * wide_s);
  EXPECT_NEAR(seconds(128), wide_s, 1e-9 * wide_s);
}

// Kernels are compiled for some widths, and pad narrower heads with zeros.
TEST(OpCost, HeadsAreAsWideAsTheirKernel) {
  const auto of_width = [](double width) {
    Op op = attention(16384, 64);
    op.k = width;
    op.flops *= width / 128;
    op.bytes = 0;
    return seconds(op);
  };
  for (const double width : {97, 100, 112, 120}) EXPECT_DOUBLE_EQ(of_width(width), of_width(128));
  EXPECT_LT(of_width(96), of_width(97));
  EXPECT_DOUBLE_EQ(of_width(72), of_width(96));
  EXPECT_DOUBLE_EQ(of_width(160), of_width(192));
  EXPECT_GT(of_width(300), of_width(257));  // not padded: no kernel is that wide
}

TEST(OpCost, GemmLawByHand) {
  // 11 x 12 tiles of 256 x 128 are one wave on 132 SMs; k is padded by 200.
  const double tile_rate = 1000e12 * 0.8 / 132;
  const double roofline_s = 2.0 * 256 * 128 * (8192 + 200) / tile_rate;
  EXPECT_NEAR(seconds(gemm(11 * 256, 12 * 128, 8192)), kLaunch_s + roofline_s / kSustained, 1e-12);
  // With half of the columns such tiles would leave half of the SMs idle: 22 x 6 tiles of 128 x 128
  // fill them, at 0.92 of the speed.
  const double half_s = 2.0 * 128 * 128 * (8192 + 200) / (0.92 * tile_rate);
  EXPECT_NEAR(seconds(gemm(11 * 256, 6 * 128, 8192)), kLaunch_s + half_s / kSustained, 1e-12);
}

// At twice the peak rate the padding of k doubles, and the efficiency has a share of its own.
TEST(OpCost, ScaledPrecisionsByHand) {
  const GpuSpec gpu = test_cluster().node.gpu;
  Calibration calibration = test_calibration();
  const Op op = gemm(11 * 256, 12 * 128, 8192);
  const auto by_hand = [&](double efficiency) {
    const double tile_rate = gpu.fp8_flops.value * efficiency / 132;
    const double padding = 200 * gpu.fp8_flops.value / gpu.bf16_flops.value;
    return kLaunch_s + 2.0 * 256 * 128 * (8192 + padding) / tile_rate / kSustained;
  };
  EXPECT_NEAR(op_cost(op, gpu, Precision::fp8, calibration).seconds, by_hand(0.8), 1e-12);
  calibration.gemm_scaled_efficiency.value = 0.6;
  EXPECT_NEAR(op_cost(op, gpu, Precision::fp8, calibration).seconds, by_hand(0.6), 1e-12);
  EXPECT_EQ(op_cost(op, gpu, Precision::bf16, calibration).seconds, seconds(op));
}

TEST(OpCost, SplittingTheInnerDimensionFillsTheGpu) {
  // 6 x 6 tiles of 128 x 128 leave most SMs idle; splitting k in three keeps 108 of 132 busy.
  const double tile_rate = 0.92 * 1000e12 * 0.8 / 132;
  const double split_s =
      2.0 * 128 * 128 * (16384.0 / 3 + 200) / tile_rate + 2 * 8.0 * 768 * 768 / (3e12 * 0.9);
  EXPECT_NEAR(seconds(gemm(768, 768, 16384)), kLaunch_s + split_s / kSustained, 1e-12);
}

TEST(OpCost, MemoryLawByHand) {
  EXPECT_NEAR(seconds(memory(1e9)), kLaunch_s + (1e9 + 4e6) / (3e12 * 0.9), 1e-12);
  EXPECT_EQ(seconds(memory(1e9), Precision::fp8), seconds(memory(1e9), Precision::fp32));
}

TEST(OpCost, AttentionLawByHand) {
  const Op op = attention(4096, 64);
  const double rate = 1000e12 * 0.6 * 4096 / (4096 + 400);
  EXPECT_NEAR(seconds(op), kLaunch_s + op.flops / rate / kSustained, 1e-12);
  // Transformer Engine runs attention in bf16 even under fp8.
  EXPECT_EQ(seconds(op, Precision::fp8), seconds(op, Precision::bf16));
}

TEST(OpCost, UnfusedAttentionStaysInBf16UnderFp8) {
  TransformerSpec unfused = llama3_8b();
  unfused.attention = AttentionKernel::unfused;
  const Batch batch{.global = 1, .micro = 1, .sequence = 8192};
  for (const Pass pass : {Pass::forward, Pass::backward_input}) {
    for (const Op& op :
         block_ops(test_job(unfused, {}, batch, Precision::fp8), Block::layer, pass)) {
      const double fp8_s = seconds(op, Precision::fp8);
      if (op.kind == OpKind::gemm) {
        EXPECT_LT(fp8_s, seconds(op, Precision::bf16)) << op.name;
      } else {
        EXPECT_EQ(fp8_s, seconds(op, Precision::bf16)) << op.name;
      }
    }
  }
}

TEST(OpCost, ThinGemmIsBoundByMemory) {
  const Op op = gemm(1, 16384, 16384);
  EXPECT_NEAR(seconds(op), kLaunch_s + (op.bytes + 4e6) / (3e12 * 0.9), 1e-12);
}

TEST(OpCost, EfficiencyRisesWithEveryDimensionOfASmallGemm) {
  const auto rate = [](double m, double n, double k) {
    const Op op = gemm(m, n, k);
    return op.flops / seconds(op);
  };
  EXPECT_LT(rate(128, 4096, 4096), rate(4096, 4096, 4096));
  EXPECT_LT(rate(4096, 128, 4096), rate(4096, 4096, 4096));
  EXPECT_LT(rate(4096, 4096, 128), rate(4096, 4096, 4096));
}

// A single row beyond full tiles starts a new row of tiles, and with it another wave.
TEST(OpCost, OneRowTooManyCostsAWave) {
  EXPECT_GT(seconds(gemm(11 * 256 + 1, 12 * 128, 8192)),
            1.3 * seconds(gemm(11 * 256, 12 * 128, 8192)));
}

TEST(OpCost, MoreWorkIsNeverFaster) {
  RandomStream random(1, RandomPurpose::test, 0);
  const auto size = [&](double limit) {
    return std::floor(std::exp(random.uniform() * std::log(limit)));
  };
  for (int i = 0; i < 20000; ++i) {
    const double m = size(40000), n = size(40000), k = size(40000), batch = size(64);
    const double base = seconds(gemm(m, n, k, batch));
    const double more = 1 + size(300);
    EXPECT_GE(seconds(gemm(m + more, n, k, batch)), base);
    EXPECT_GE(seconds(gemm(m, n + more, k, batch)), base);
    EXPECT_GE(seconds(gemm(m, n, k + more, batch)), base);
    EXPECT_GE(seconds(gemm(m, n, k, batch + more)), base);
    const double sequence = size(100000), heads = size(256);
    EXPECT_GE(seconds(attention(sequence + more, heads)), seconds(attention(sequence, heads)));
    EXPECT_GE(seconds(attention(sequence, heads + more)), seconds(attention(sequence, heads)));
    const double bytes = size(1e11);
    EXPECT_GT(seconds(memory(bytes + more)), seconds(memory(bytes)));
  }
}

TEST(OpCost, NothingBeatsThePeakOrTheMemory) {
  RandomStream random(2, RandomPurpose::test, 0);
  for (int i = 0; i < 20000; ++i) {
    const auto size = [&] { return std::floor(std::exp(random.uniform() * std::log(60000.0))); };
    const Op op = gemm(size(), size(), size());
    EXPECT_GE(seconds(op), op.flops / (1000e12 * 0.8 * kSustained));
    EXPECT_GE(seconds(op), op.bytes / (3e12 * 0.9));
  }
}

TEST(OpCost, RestsOnTheWeakestNumberOfTheRoofThatBinds) {
  const GpuSpec gpu = test_cluster().node.gpu;
  Calibration calibration = test_calibration();
  for (const CalibrationField& field : calibration_fields()) {
    (calibration.*field.member).origin = Origin::measured;
  }
  const auto origin = [&](const Op& op) {
    return op_cost(op, gpu, Precision::bf16, calibration).origin;
  };
  const Op big = gemm(8192, 8192, 8192), thin = gemm(8192, 8192, 512);
  // The time rests on the measured share of the peak, so that its origin is not the data sheet's.
  EXPECT_EQ(origin(big), Origin::measured);
  calibration.memory_efficiency.origin = Origin::assumed;
  EXPECT_EQ(origin(big), Origin::measured);
  EXPECT_EQ(origin(memory(1e9)), Origin::assumed);
  calibration.memory_efficiency.origin = Origin::measured;

  // The origin of a correction counts where the correction makes up a tenth of the time.
  calibration.gemm_k_half.origin = calibration.kernel_launch_s.origin = Origin::assumed;
  EXPECT_EQ(origin(big), Origin::measured);
  EXPECT_EQ(origin(thin), Origin::assumed);
  EXPECT_EQ(origin(memory(1e9)), Origin::measured);
  EXPECT_EQ(origin(memory(1)), Origin::assumed);

  // The sustained share affects compute-bound kernels only.
  calibration.kernel_sustained.origin = Origin::assumed;
  EXPECT_EQ(origin(big), Origin::assumed);
  EXPECT_EQ(origin(memory(1e9)), Origin::measured);
  // A fitted share does not help if the peak itself is assumed.
  GpuSpec supposed = gpu;
  supposed.bf16_flops.origin = Origin::assumed;
  calibration.kernel_sustained.origin = Origin::measured;
  EXPECT_EQ(op_cost(big, supposed, Precision::bf16, calibration).origin, Origin::assumed);
  // If no share was fitted, the origin is that of the peak, the data sheet.
  calibration.kernel_sustained.origin = calibration.gemm_efficiency.origin = Origin::spec;
  EXPECT_EQ(origin(big), Origin::spec);
}

// Attention was measured by itself, at its own clock, so that the sustained share of products does
// not slow it; the share of kernels measured alone does.
TEST(OpCost, FusedAttentionKeepsItsOwnClock) {
  Calibration c = test_calibration();
  const auto seconds_of = [&](const Op& op) {
    return op_cost(op, test_cluster().node.gpu, Precision::bf16, c).seconds - kLaunch_s;
  };
  const Op fused = attention(16384, 64), product = gemm(8192, 8192, 8192);
  const double slow_s = seconds_of(fused), product_s = seconds_of(product);
  c.attention_sustained = {0.9, 0.9, 0.9, Origin::assumed, ""};
  EXPECT_NEAR(seconds_of(fused), slow_s * kSustained / 0.9, 1e-9 * slow_s);
  EXPECT_DOUBLE_EQ(seconds_of(product), product_s);
  Job job = test_job(llama3_8b(), {}, {.global = 1, .sequence = 4096});
  job.calibration = c;
  job.calibration.kernel_alone = {0.5, 0.5, 0.5, Origin::assumed, ""};
  EXPECT_NEAR(op_cost(fused, job).seconds - kLaunch_s, slow_s * kSustained / 0.5, 1e-9 * slow_s);
}

TEST(OpCost, ProductsOfNvfp4HaveAnEfficiencyOfTheirOwn) {
  GpuSpec gpu = test_cluster().node.gpu;
  gpu.fp4_flops = gpu.fp8_flops;
  Calibration c = test_calibration();
  c.gemm_scaled_efficiency = {0.6, 0.6, 0.6, Origin::assumed, ""};
  const auto seconds_in = [&](Precision precision) {
    return op_cost(gemm(16384, 16384, 16384), gpu, precision, c).seconds - kLaunch_s;
  };
  const double fp8_s = seconds_in(Precision::fp8);
  EXPECT_DOUBLE_EQ(seconds_in(Precision::nvfp4), fp8_s);
  c.gemm_fp4_efficiency = {0.3, 0.3, 0.3, Origin::assumed, ""};
  EXPECT_NEAR(seconds_in(Precision::nvfp4), 2 * fp8_s, 1e-9 * fp8_s);
  EXPECT_DOUBLE_EQ(seconds_in(Precision::mxfp8), fp8_s);
}

// Tensor cores need rows that are aligned to 16 bytes: heads of 150 run at the peak of the vector
// units.
TEST(OpCost, UnalignedHeadsOfUnfusedAttentionLeaveTheMatrixUnits) {
  Op op = gemm(2048, 2048, 152);
  op.kind = OpKind::attention_gemm;
  op.batch = 64;
  const double aligned_s = seconds(op) - kLaunch_s;
  op.k = 150;
  const double ratio = (150.0 + 200) / (152 + 200);  // the tile's start and end take as long as 200
  EXPECT_NEAR((seconds(op) - kLaunch_s) / aligned_s, 1000.0 / 60 * ratio, 1e-9);
  op.kind = OpKind::gemm;  // cuBLAS pads k
  EXPECT_LT(seconds(op) - kLaunch_s, 1.01 * aligned_s);
}

TEST(OpCost, UnsupportedPrecisionIsAnError) {
  EXPECT_EQ(error_of([&] {
              op_cost(gemm(1, 1, 1), test_cluster().node.gpu, Precision::fp16, test_calibration());
            }),
            "gpu 'test-gpu' does not support precision fp16");
}

// ---- Measured kernels.

Calibration measured() {
  Calibration calibration = test_calibration();
  calibration.kernel_laws.laws = {line_of("gemm type=bf16", 5e-6, 1e-14, 3e-13),
                                  curve_of("add", 1e-6, 1e-12),
                                  curve_of("scale", 2e-6, 2e-12),
                                  curve_of("quantise-int8", 3e-6, 4e-12),
                                  curve_of("dequantise-int8", 3e-6, 8e-12),
                                  line_of("low-rank-expand", 1e-6, 1e-13, 1e-12),
                                  line_of("low-rank-subtract", 2e-6, 2e-13, 0)};
  return calibration;
}

OpCost measured_cost(const Op& op, Precision precision = Precision::bf16) {
  return op_cost(op, test_cluster().node.gpu, precision, measured());
}

TEST(MeasuredOps, TakeTheTimeOfTheirLaw) {
  const Op product = gemm(300, 500, 700, 3);
  const OpCost cost = measured_cost(product);
  EXPECT_DOUBLE_EQ(cost.seconds, 5e-6 + product.flops * 1e-14 + product.bytes * 3e-13);
  EXPECT_EQ(cost.origin, Origin::measured);
  EXPECT_NEAR(measured_cost(memory(1e6)).seconds, 1e-6 + 1e-6, 1e-15);
  Op relu = memory(1e6);
  relu.kernel = "scale";
  EXPECT_NEAR(measured_cost(relu).seconds, 2e-6 + 2e-6, 1e-15);
}

TEST(MeasuredOps, AreAsManyCallsAsTheyHaveLaunches) {
  Op op = memory(6e6);
  op.launches = op.starts = 3;
  EXPECT_NEAR(measured_cost(op).seconds, 3 * (1e-6 + 2e-6), 1e-15);
  op.launches = op.starts = 0.25;  // one launch in four steps, of 24 MB
  EXPECT_NEAR(measured_cost(op).seconds, 0.25 * (1e-6 + 24e-6), 1e-15);
}

TEST(MeasuredOps, WhatWasNotMeasuredKeepsItsRoofs) {
  EXPECT_EQ(measured_cost(gemm(512, 512, 512), Precision::fp8).seconds,
            seconds(gemm(512, 512, 512), Precision::fp8));
  EXPECT_EQ(measured_cost(attention(4096, 16)).seconds, seconds(attention(4096, 16)));
}

TEST(MeasuredOps, KernelsOfCompressors) {
  Op blocks = memory(5e6);
  blocks.compressing = "quantise blocks";
  // An unknown form gets the median of the measured forms, a known one its own law.
  EXPECT_NEAR(measured_cost(blocks).seconds, 3e-6 + 5e6 * 6e-12, 1e-15);
  blocks.kernel = "dequantise-int8";
  EXPECT_NEAR(measured_cost(blocks).seconds, 3e-6 + 5e6 * 8e-12, 1e-15);
  blocks.kernel = "dequantise-int4";
  EXPECT_NEAR(measured_cost(blocks).seconds, 3e-6 + 5e6 * 6e-12, 1e-15);
  // An unmeasured kernel takes as long as an element-wise one with more bytes, by the assumed
  // share.
  Op merge = memory(1e6);
  merge.compressing = "merge";
  const OpCost cost = measured_cost(merge);
  EXPECT_NEAR(cost.seconds, 1e-6 + 1e6 / 0.5 * 1e-12, 1e-15);
  EXPECT_EQ(cost.origin, Origin::assumed);
}

TEST(MeasuredOps, TwoKernelsEachByItsOwnBytes) {
  Op decode = gemm(1000, 800, 4);
  decode.compressing = "low-rank product";
  decode.bytes = 1;  // replaced by the two kernels' bytes
  decode.kernel = "low-rank-expand";
  decode.second_kernel = "low-rank-subtract";
  const double bytes = 4 * (1000 * 800 + 800 * 4 + 1000 * 4);
  EXPECT_NEAR(measured_cost(decode).seconds,
              (1e-6 + decode.flops * 1e-13 + bytes * 1e-12) + (2e-6 + decode.flops * 2e-13), 1e-15);
}

TEST(MeasuredOps, NeverFallWithSize) {
  RandomStream random(1, RandomPurpose::test, 5);
  for (int i = 0; i < 300; ++i) {
    const double bytes = std::exp(25 * random.uniform());
    EXPECT_GE(measured_cost(memory(bytes * 1.5)).seconds, measured_cost(memory(bytes)).seconds);
  }
}

}  // namespace
}  // namespace windtunnel

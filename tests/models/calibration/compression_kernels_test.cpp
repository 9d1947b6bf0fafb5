#include "models/calibration/compression_kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "models/compression/recipe_parts.hpp"
#include "models/cost/op/op_cost.hpp"
#include "tests/models/cost/cost_fixtures.hpp"
#include "tests/support/straight_laws.hpp"

namespace windtunnel {
namespace {

constexpr double kLaunch_s = 2e-6;
constexpr double kHalf_bytes = 4e6;
constexpr double kRate = 0.9 * 3e12;

OpCost cost(const Op& op, const Calibration& calibration = test_calibration()) {
  return op_cost(op, test_cluster().node.gpu, Precision::bf16, calibration);
}

TEST(CompressionKernels, NamesAreKnownOnceAndSharesAreShares) {
  std::set<std::string_view> names;
  for (const CompressionKernel& kernel : compression_kernels()) {
    EXPECT_TRUE(names.insert(kernel.name).second) << kernel.name;
    EXPECT_GT(kernel.share.low, 0) << kernel.name;
    EXPECT_LE(kernel.share.low, kernel.share.value) << kernel.name;
    EXPECT_LE(kernel.share.value, kernel.share.high) << kernel.name;
    EXPECT_LE(kernel.share.high, 1) << kernel.name;
    EXPECT_FALSE(kernel.share.source.empty()) << kernel.name;
  }
  EXPECT_EQ(find_compression_kernel("exact top-kk"), nullptr);
}

// Shares of compression kernels apply to no kernel of the model.
TEST(CompressionKernels, AreNoKernelsOfAModel) {
  Job job;
  job.model = gpt3_175b();
  job.batch.sequence = 2048;
  job.precision = Precision::mxfp8;
  job.recompute = Recompute::selective;
  for (const int experts : {0, 8}) {
    job.model.moe = {.experts = experts, .per_token = experts > 0 ? 2 : 0, .ffn_hidden = 1024};
    const Block layer = experts > 0 ? Block::moe_layer : Block::layer;
    for (const Block block : {layer, Block::embedding, Block::head}) {
      for (const Pass pass : {Pass::forward, Pass::backward_input, Pass::backward_weight}) {
        for (const Op& op : block_ops(job, block, pass)) {
          EXPECT_EQ(op.compressing, "") << op.name;
        }
      }
    }
  }
}

TEST(CompressionKernels, ShareDividesTheBandwidth) {
  const double share = find_compression_kernel("sign pack")->share.value;
  EXPECT_LT(share, 1);
  const OpCost usual = cost(pass("sign pack", 1e9));
  EXPECT_NEAR(usual.seconds, kLaunch_s + (1e9 / share + kHalf_bytes) / kRate, 1e-12);
  EXPECT_EQ(usual.origin, Origin::assumed);
  EXPECT_NEAR(cost(pass("norm", 1e9)).seconds, kLaunch_s + (1e9 + kHalf_bytes) / kRate, 1e-12);
}

TEST(CompressionKernels, StartsAreOneAfterTheOther) {
  EXPECT_NEAR(cost(pass("error add", 1e9, 50)).seconds,
              50 * kLaunch_s + (1e9 + 50 * kHalf_bytes) / kRate, 1e-12);
  const OpCost tiny = cost(pass("error add", 1, 50));
  EXPECT_NEAR(tiny.seconds, 50 * (kLaunch_s + kHalf_bytes / kRate), 1e-9);
}

// A software that copies tensors, or whose library has a fixed part, launches further kernels for
// each tensor.
TEST(CompressionKernels, FurtherKernelsOfASoftware) {
  Calibration calibration = test_calibration();
  const Op add = pass("error add", 1e9, 50);
  const double usual_s = cost(add).seconds;
  calibration.kernel_starts = {{"error add", parameter(3)}};
  const double seconds =
      op_cost(add, test_cluster().node.gpu, Precision::bf16, calibration).seconds;
  EXPECT_NEAR(seconds - usual_s, 3 * 50 * (kLaunch_s + kHalf_bytes / kRate), 1e-9);
  const Op other = pass("sign pack", 1e9, 50);
  EXPECT_EQ(op_cost(other, test_cluster().node.gpu, Precision::bf16, calibration).seconds,
            cost(other).seconds);
}

// PyTorch's selection in 2019, by gTop-k's logs, took 6.0 ns per element at 0.27, 14.7 and 25.6
// million elements alike.
TEST(CompressionKernels, ACalibrationStatesItsOwn) {
  Calibration calibration = test_calibration();
  GpuSpec gpu = test_cluster().node.gpu;
  gpu.memory_Bps = parameter(440e9);
  constexpr double kPerElement_s = 6.0e-9;
  const double share = 8 / (kPerElement_s * 440e9 * 0.9);
  calibration.kernels = {{"exact top-k", parameter(share, Origin::measured)}};
  calibration.memory_efficiency = parameter(0.9, Origin::measured);
  for (const double elements : {0.27e6, 14.7e6, 25.6e6}) {
    const OpCost got =
        op_cost(pass("exact top-k", 8 * elements), gpu, Precision::fp32, calibration);
    EXPECT_NEAR(got.seconds, kPerElement_s * elements, 2e-5 + 1e-9 * elements * 1e-3);
    EXPECT_EQ(got.origin, Origin::measured);  // no longer the assumed share
  }
}

// If only the encoding was measured, its law also gives the times of the other ternary kernels.
TEST(CompressionKernels, TernaryPassesEachByTheirOwnLaw) {
  constexpr double kElements = 1e6;
  constexpr int kRanks = 4;
  const std::vector<TensorShape> tensors = {{0, kElements}};
  const Recipe recipe = make_recipe({.name = "terngrad"}, tensors, {.ranks = kRanks}, 4);
  Calibration calibration = test_calibration();
  const auto seconds = [&] {
    std::vector<double> of_steps;
    for (const RecipeStep& step : recipe.steps) {
      of_steps.push_back(cost(step.kernels.at(0), calibration).seconds);
    }
    return of_steps;
  };
  const double sums = kElements * std::log2(2.0 * kRanks + 1) / 8;
  const std::vector<double> bytes = {4 * kElements, 4.25 * kElements, sums + 4 * kElements};
  const auto expect = [&](const std::vector<double>& byte_s) {
    for (size_t i = 0; i < bytes.size(); ++i) {
      EXPECT_NEAR(seconds()[i], 1e-6 + bytes[i] * byte_s[i], 1e-12) << i;
    }
  };
  calibration.kernel_laws.laws = {curve_of("ternary", 1e-6, 5e-12)};
  expect({5e-12, 5e-12, 5e-12});
  calibration.kernel_laws.laws.push_back(curve_of("ternary-max", 1e-6, 1e-12));
  calibration.kernel_laws.laws.push_back(curve_of("ternary-decode", 1e-6, 2e-12));
  expect({1e-12, 5e-12, 2e-12});
}

// If the kernel "sign-magnitude" was not measured, the law of "sign-error" stands in for it.
TEST(CompressionKernels, SignsWithFeedbackByTheKernelsThatRun) {
  constexpr double kElements = 1e6;
  const std::vector<TensorShape> tensors = {{0, kElements}};
  const CompressorChoice choice{.name = "signsgd", .feedback = ErrorFeedback::ef};
  const Recipe recipe = make_recipe(choice, tensors, {.ranks = 4}, 4);
  const std::vector<Op>& kernels = recipe.steps.at(0).kernels;
  ASSERT_EQ(kernels.size(), 2U);
  Calibration calibration = test_calibration();
  const auto expect = [&](double first_s, double second_s) {
    EXPECT_NEAR(cost(kernels[0], calibration).seconds, first_s, 1e-12);
    EXPECT_NEAR(cost(kernels[1], calibration).seconds, second_s, 1e-12);
  };
  const double sign_bytes = kElements / 8;
  calibration.kernel_laws.laws = {curve_of("add", 1e-6, 1e-12)};
  const double share = find_compression_kernel("sign error")->share.value;
  expect(1e-6 + 12 * kElements * 1e-12, 1e-6 + (8 * kElements + sign_bytes) / share * 1e-12);
  calibration.kernel_laws.laws.push_back(curve_of("sign-error", 2e-6, 5e-12));
  expect(2e-6 + 12 * kElements * 5e-12, 2e-6 + (8 * kElements + sign_bytes) * 5e-12);
  calibration.kernel_laws.laws.push_back(curve_of("sign-magnitude", 3e-6, 2e-12));
  expect(2e-6 + 12 * kElements * 5e-12, 3e-6 + (8 * kElements + sign_bytes) * 2e-12);
}

// Factors are thin, so that reading the large matrix bounds the product.
TEST(CompressionKernels, ThinProductsAreBoundByMemory) {
  const double share = find_compression_kernel("low-rank product")->share.value;
  const Op thin = product("low-rank product", 8192, 4, 8192, 1, 2);
  EXPECT_NEAR(cost(thin).seconds, kLaunch_s + (thin.bytes / share + kHalf_bytes) / kRate, 1e-12);
  const Op wide = product("low-rank product", 8192, 4096, 8192, 1, 2);
  EXPECT_GT(cost(wide).seconds, 2 * (wide.bytes / share + kHalf_bytes) / kRate);
}

}  // namespace
}  // namespace windtunnel

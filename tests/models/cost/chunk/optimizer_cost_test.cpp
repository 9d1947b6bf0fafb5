// What the optimizer's update costs.
#include <gtest/gtest.h>

#include <array>

#include "models/cost/chunk/chunk_cost.hpp"
#include "tests/models/cost/cost_fixtures.hpp"
#include "tests/support/straight_laws.hpp"

namespace windtunnel {
namespace {

TEST(OptimizerCost, IsItsBytes) {
  Job job;
  job.cluster = test_cluster();
  job.calibration = test_calibration();
  const auto parts = optimizer_cost(1e9, job);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].category, Category::optimizer);
  const auto seconds = [](double bytes) { return 2e-6 + (bytes + 4e6) / (3e12 * 0.9); };
  EXPECT_NEAR(parts[0].seconds, seconds(38e9), 1e-12);
  // Each moment is read and written in fp32.
  job.software.optimizer = Optimizer::momentum;
  EXPECT_NEAR(optimizer_cost(1e9, job)[0].seconds, seconds(30e9), 1e-12);
  job.software.optimizer = Optimizer::sgd;
  EXPECT_NEAR(optimizer_cost(1e9, job)[0].seconds, seconds(22e9), 1e-12);
  job.calibration.moment_bytes.value = 15;  // separate operations
  EXPECT_NEAR(optimizer_cost(1e9, job)[0].seconds, seconds(8e9), 1e-12);
}

// The update reads 2 B of gradient, and reads and writes 4 B of weight and of each moment; it runs
// 64 instructions, at 30e12 per second.
TEST(OptimizerCost, HasFewerBytesIn16Bit) {
  Job job;
  job.precision = Precision::bf16;
  job.cluster = test_cluster();
  job.calibration = test_calibration();
  job.software.pure_16_bit = true;
  job.cluster.node.gpu.fp32_flops.value = 60e12;
  const auto seconds = [](double bytes) { return 2e-6 + (bytes + 4e6) / (3e12 * 0.9); };
  EXPECT_NEAR(optimizer_cost(1e9, job)[0].seconds, seconds(14e9) + 64e9 / 30e12, 1e-12);
  job.software.optimizer = Optimizer::momentum;
  EXPECT_NEAR(optimizer_cost(1e9, job)[0].seconds, seconds(10e9), 1e-12);
  job.software.optimizer = Optimizer::adam;
  job.calibration.kernel_laws.laws = {curve_of("adam", 2e-6, 3e-12)};
  EXPECT_NEAR(optimizer_cost(1e9, job)[0].seconds, 2e-6 + 3 * 14e-3, 1e-12);
  job.software.optimizer = Optimizer::momentum;
  job.precision = Precision::fp32;  // without 16-bit copies
  EXPECT_NEAR(optimizer_cost(1e9, job)[0].seconds, seconds(30e9), 1e-12);
}

TEST(OptimizerCost, IsTheTimeOfAMeasuredKernel) {
  Job job;
  job.cluster = test_cluster();
  job.calibration = test_calibration();
  std::vector<KernelLaw>& laws = job.calibration.kernel_laws.laws;
  const auto expect = [&](double adam_s, double momentum_s, double sgd_s) {
    const std::array<std::pair<Optimizer, double>, 3> due = {
        {{Optimizer::adam, adam_s}, {Optimizer::momentum, momentum_s}, {Optimizer::sgd, sgd_s}}};
    for (const auto& [optimizer, due_s] : due) {
      job.software.optimizer = optimizer;
      EXPECT_NEAR(optimizer_cost(1e6, job)[0].seconds, due_s, 1e-12);
    }
  };
  laws = {curve_of("add", 1e-6, 1e-12)};
  expect(1e-6 + 38e-6, 1e-6 + 30e-6, 1e-6 + 22e-6);
  laws.push_back(curve_of("adam", 2e-6, 3e-12));
  expect(2e-6 + 3 * 38e-6, 1e-6 + 30e-6, 1e-6 + 22e-6);
  laws.push_back(curve_of("sgd", 3e-6, 5e-12));
  expect(2e-6 + 3 * 38e-6, 1e-6 + 30e-6, 3e-6 + 5 * 22e-6);
}

}  // namespace
}  // namespace windtunnel

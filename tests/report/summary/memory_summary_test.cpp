#include <gtest/gtest.h>

#include "report/summary/summary.hpp"

namespace windtunnel {
namespace {

Calibration calibration_of(double error) {
  Calibration calibration;
  calibration.memory_error = {error, 0, 0, Origin::measured, "this test"};
  return calibration;
}

// If two standard deviations are left below the capacity, the chance is 2.3 %; if nothing is left,
// it is one half.
TEST(MemorySummary, TheChanceThatItDoesNotFit) {
  EXPECT_EQ(may_not_fit_text(calibration_of(0.1), 80e9, 80e9),
            "with a chance of 50 % (predicted within 10.5 %, one sigma, measured)");
  EXPECT_TRUE(
      may_not_fit_text(calibration_of(0.1), 65.5e9, 80e9).starts_with("with a chance of 2 % ("));
  EXPECT_EQ(may_not_fit_text(calibration_of(0.1), 60e9, 80e9), "");
  EXPECT_EQ(may_not_fit_text(calibration_of(0), 79e9, 80e9), "") << "no error is stated";
}

TEST(MemorySummary, PartsAreAllThereIs) {
  GpuMemory rank{.weights = 1, .gradients = 2, .optimizer = 3, .activations = 4, .buffers = 5};
  double sum = 0;
  for (const auto& [name, bytes] : memory_parts(rank)) sum += bytes;
  EXPECT_EQ(sum, rank.total());
}

}  // namespace
}  // namespace windtunnel

#include "models/calibration/calibration.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

TEST(Calibration, AGpuAloneSustainsWhatItsKernelsReachAlone) {
  Calibration calibration;
  calibration.kernel_sustained = {0.8, 0.7, 0.9, Origin::published, "of many"};
  calibration.kernel_alone = {1, 0.9, 1, Origin::measured, "of one"};
  Calibration many = calibration;
  settle_for(many, 2);
  EXPECT_EQ(many.kernel_sustained.value, 0.8);
  Calibration one = calibration;
  settle_for(one, 1);
  EXPECT_EQ(one.kernel_sustained.value, 1);
  EXPECT_EQ(one.kernel_sustained.low, 0.9);
  EXPECT_EQ(one.kernel_sustained.origin, Origin::measured);
  calibration.kernel_alone.value = 0;  // not known
  settle_for(calibration, 1);
  EXPECT_EQ(calibration.kernel_sustained.value, 0.8);
}

}  // namespace
}  // namespace windtunnel

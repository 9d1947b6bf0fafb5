#include "models/calibration/calibration.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

TEST(Calibration, AGpuAloneSustainsWhatItsKernelsReachAlone) {
  Calibration calibration;
  calibration.kernel_sustained = {0.8, 0.7, 0.9, Origin::published, "of many"};
  calibration.kernel_alone = {1, 0.9, 1, Origin::measured, "of one"};
  EXPECT_EQ(sustained_of(calibration, 2).value, 0.8);
  EXPECT_EQ(sustained_of(calibration, 1).value, 1);
  calibration.kernel_alone.value = 0;  // not known
  EXPECT_EQ(sustained_of(calibration, 1).value, 0.8);
}

}  // namespace
}  // namespace windtunnel

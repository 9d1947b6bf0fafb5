#include "scenarios/language/library/calibration_heads.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

TEST(CalibrationHeads, SayWhatTheWholeFilesSay) {
  ASSERT_EQ(library_calibration_heads().size(), library_calibrations().size());
  for (const CalibrationHead& head : library_calibration_heads()) {
    const Calibration& calibration = find_calibration(head.name);
    EXPECT_EQ(calibration.name, head.name);
    EXPECT_EQ(calibration.gpu, head.gpu);
    EXPECT_EQ(head.file.path, "calibrations/" + head.name + ".yaml");
  }
}

}  // namespace
}  // namespace windtunnel

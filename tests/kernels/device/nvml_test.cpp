#include "kernels/device/nvml.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

TEST(Nvml, ReadsWhatTheLibraryTells) {
  const Nvml nvml(FAKE_NVML);
  EXPECT_EQ(nvml.driver(), "580.65.06");
  EXPECT_EQ(nvml.cuda_version(), 13000);
  EXPECT_EQ(nvml.fault(), "");
  const DeviceReadings readings = nvml.readings("0000:1B:00.0");
  EXPECT_EQ(readings.clock_Hz, 1980e6);
  EXPECT_EQ(readings.temperature_C, 61);
  EXPECT_DOUBLE_EQ(readings.power_W, 612.5);
  EXPECT_EQ(readings.throttle_reasons & kThrottled, 0x4U);
  EXPECT_TRUE(readings.ecc);
  EXPECT_TRUE(readings.persistence);
}

TEST(Nvml, SaysWhyItDoesNotStart) {
  const Nvml nvml(OTHER_NVML);
  EXPECT_EQ(nvml.fault(), "Driver/library version mismatch");
  EXPECT_EQ(nvml.driver(), "");
  EXPECT_EQ(nvml.cuda_version(), 0);
}

TEST(Nvml, LeavesOutWhatADeviceLacks) {
  const DeviceReadings readings = Nvml(FAKE_NVML).readings("0000:1B:00.0");
  EXPECT_EQ(readings.memory_clock_Hz, 0);
  EXPECT_FALSE(readings.mig);
}

TEST(Nvml, KnowsNothingOfAnotherDeviceOrWithoutTheLibrary) {
  EXPECT_EQ(Nvml(FAKE_NVML).readings("0000:2B:00.0").clock_Hz, 0);
  const Nvml none("libno-such-library.so");
  EXPECT_EQ(none.driver(), "");
  EXPECT_EQ(none.readings("0000:1B:00.0").clock_Hz, 0);
}

}  // namespace
}  // namespace windtunnel

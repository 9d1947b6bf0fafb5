// Tests of CUDA forms: skipped by name, with the reason, where there is no device.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "kernels/device/device.hpp"

namespace windtunnel {

class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = device(DeviceKind::cuda).why_unusable();
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
};

}  // namespace windtunnel

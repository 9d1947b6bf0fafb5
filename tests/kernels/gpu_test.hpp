// A test that needs a CUDA device, and is skipped with the reason where there is none.
#pragma once

#include <gtest/gtest.h>

#include "kernels/device.hpp"

namespace windtunnel {

class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = device(DeviceKind::cuda).why_unusable();
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
};

}  // namespace windtunnel

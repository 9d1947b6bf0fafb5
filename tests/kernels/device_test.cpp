#include "kernels/device.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

TEST(Device, CpuIsAlwaysUsable) {
  EXPECT_STREQ(device(DeviceKind::cpu).name, "cpu");
  EXPECT_EQ(device(DeviceKind::cpu).why_unusable(), "");
}

// Whoever asks a device that cannot run gets an Error, not a crash.
TEST(Device, UnusableDeviceRefuses) {
  const Device& cuda = device(DeviceKind::cuda);
  EXPECT_STREQ(cuda.name, "cuda");
  if (cuda.why_unusable().empty()) GTEST_SKIP() << "this machine has a CUDA device";
  EXPECT_THROW(DeviceBuffer(cuda, 64), Error);
}

TEST(DeviceBuffer, GivesBackWhatItTook) {
  const std::vector<std::byte> bytes = {std::byte{1}, std::byte{2}, std::byte{255}};
  DeviceBuffer first(device(DeviceKind::cpu), bytes.size());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first.data()) % 64, 0U);
  first.upload(bytes);
  const DeviceBuffer second(std::move(first));
  EXPECT_EQ(second.download(), bytes);
}

TEST(DeviceBuffer, MayBeEmpty) {
  DeviceBuffer buffer(device(DeviceKind::cpu), 0);
  buffer.upload({});
  EXPECT_TRUE(buffer.download().empty());
}

TEST(DeviceBuffer, RefusesAnotherSize) {
  DeviceBuffer buffer(device(DeviceKind::cpu), 2);
  EXPECT_THROW(buffer.upload({std::byte{1}}), InternalError);
}

}  // namespace
}  // namespace windtunnel

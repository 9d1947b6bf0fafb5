#include "kernels/device/device.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "models/base/error.hpp"
#include "tests/kernels/device/device_properties.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

TEST(Device, CpuIsAlwaysUsable) {
  EXPECT_STREQ(device(DeviceKind::cpu).name, "cpu");
  EXPECT_EQ(device(DeviceKind::cpu).why_unusable(), "");
}

TEST(Device, RefusesMoreMemoryThanThereIs) {
  const std::size_t all = device(DeviceKind::cpu).describe().memory_bytes;
  ASSERT_GT(all, 0U);
  EXPECT_TRUE(fails([&] { const DeviceBuffer buffer(device(DeviceKind::cpu), 3 * all); },
                    "this machine has"));
}

TEST(Device, TheCpuIsTheOnlyOneOfItsKind) {
  const Device& cpu = device(DeviceKind::cpu);
  EXPECT_EQ(cpu.count(), 1);
  cpu.select(0);
  EXPECT_THROW(cpu.select(1), InternalError);
}

// A device that cannot run must throw an Error instead of crashing.
TEST(Device, UnusableDeviceRefuses) {
  const Device& cuda = device(DeviceKind::cuda);
  EXPECT_STREQ(cuda.name, "cuda");
  if (cuda.why_unusable().empty()) GTEST_SKIP() << "this machine has a CUDA device";
  EXPECT_THROW(DeviceBuffer(cuda, 64), Error);
  EXPECT_EQ(cuda.count(), 0);
  EXPECT_THROW(cuda.select(0), Error);
  EXPECT_THROW(cuda.describe(), Error);
  EXPECT_THROW(cuda.time_s([] {}, 1), Error);
}

TEST(Device, EveryMemoryGivesBackWhatItTook) {
  expect_every_memory_gives_back(DeviceKind::cpu);
}

TEST(Device, DescribesItself) {
  expect_describes_itself(DeviceKind::cpu);
}

TEST(Device, TimesEachRunOfTheWork) {
  int runs = 0;
  const auto work = [&] {
    ++runs;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  };
  EXPECT_GE(device(DeviceKind::cpu).time_s(work, 4), 0.02);
  EXPECT_EQ(runs, 4);
  EXPECT_THROW(device(DeviceKind::cpu).time_s(work, 0), InternalError);
}

TEST(Device, PassesErrorsOn) {
  const Device& cpu = device(DeviceKind::cpu);
  std::atomic<int> done = 0;
  EXPECT_THROW(cpu.time_s([] { throw Error("no such work"); }, 3), Error);
  EXPECT_THROW(cpu.run_beside({[] { throw Error("no such work"); }, [&] { ++done; }}), Error);
  EXPECT_EQ(done, 1);
}

TEST(Device, RunsWorksBesideEachOther) {
  expect_runs_beside(DeviceKind::cpu);
}

// Two works that wait for each other only end when they run at once.
TEST(Device, WorksBesideEachOtherOverlap) {
  std::atomic<int> here = 0;
  const auto meet = [&] {
    ++here;
    while (here < 2) std::this_thread::yield();
  };
  device(DeviceKind::cpu).run_beside({meet, meet});
  EXPECT_EQ(here, 2);
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

#include "tests/kernels/device/device_properties.hpp"
#include "tests/kernels/gpu_fixture.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

using DeviceGpu = GpuTest;

TEST_F(DeviceGpu, EveryMemoryGivesBackWhatItTook) {
  expect_every_memory_gives_back(DeviceKind::cuda);
}

TEST_F(DeviceGpu, DescribesItself) {
  expect_describes_itself(DeviceKind::cuda);
  EXPECT_GT(device(DeviceKind::cuda).describe().cache_bytes, 0U);
}

TEST_F(DeviceGpu, IsOneOfSome) {
  const Device& where = device(DeviceKind::cuda);
  EXPECT_GE(where.count(), 1);
  EXPECT_EQ(where.describe().id.substr(0, 4), "GPU-");
  const DeviceBuffer buffer(where, 64);
  where.synchronize();
  expect_works(DeviceKind::cuda);
  EXPECT_THROW(where.select(0), InternalError);  // too late: work has begun
}

TEST_F(DeviceGpu, RefusesMoreMemoryThanThereIs) {
  const Device& where = device(DeviceKind::cuda);
  EXPECT_TRUE(fails([&] { const DeviceBuffer buffer(where, 3 * where.describe().memory_bytes); },
                    "too large for this device", ExitCode::failed));
  expect_works(DeviceKind::cuda);
}

TEST_F(DeviceGpu, TimesWork) {
  expect_times_work(DeviceKind::cuda);
}

// A work that synchronises cannot be captured.
TEST_F(DeviceGpu, TimesWorkThatCannotBeCaptured) {
  const Device& where = device(DeviceKind::cuda);
  const DeviceBuffer from(where, 1 << 20);
  const DeviceBuffer to(where, 1 << 20);
  const auto work = [&] {
    copying(DeviceKind::cuda, from, to)();
    where.synchronize();
  };
  EXPECT_GT(where.time_s(work, 3), 0);
  expect_works(DeviceKind::cuda);
}

TEST_F(DeviceGpu, PassesErrorsOn) {
  expect_passes_errors_on(DeviceKind::cuda);
}

TEST_F(DeviceGpu, RunsWorksBesideEachOther) {
  expect_runs_beside(DeviceKind::cuda);
  const Device& where = device(DeviceKind::cuda);
  EXPECT_THROW(where.run_beside({[&] { where.run_beside({[] {}}); }}), InternalError);
  where.synchronize();
}

}  // namespace
}  // namespace windtunnel

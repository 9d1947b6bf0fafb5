// The tests of ranks on GPUs skip where there are no GPUs; in the host emulation they run.
#include <gtest/gtest.h>

#include "validate/harness/collectives/nccl_collectives.hpp"
#include "validate/harness/ranks/group_devices.hpp"

namespace windtunnel {
namespace {

TEST(CudaHost, HasADeviceAndNcclForRanks) {
  EXPECT_EQ(usable_devices(DeviceKind::cuda).count, 1);
  EXPECT_EQ(why_no_nccl(), "");
}

}  // namespace
}  // namespace windtunnel

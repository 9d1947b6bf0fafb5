// A test's ranks run on the devices that it is compiled for: with WINDTUNNEL_TEST_CUDA on GPUs with
// NCCL, otherwise on the CPU with TCP.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "validate/harness/collectives/nccl_collectives.hpp"
#include "validate/harness/collectives/tcp_collectives.hpp"
#include "validate/harness/ranks/group_devices.hpp"

namespace windtunnel {

#ifdef WINDTUNNEL_TEST_CUDA
constexpr DeviceKind kTestDevice = DeviceKind::cuda;
#else
constexpr DeviceKind kTestDevice = DeviceKind::cpu;
#endif

class DeviceRanksTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kTestDevice == DeviceKind::cpu) return;
    static const UsableDevices usable = usable_devices(kTestDevice);
    if (usable.count == 0) GTEST_SKIP() << usable.why_none;
    if (!why_no_nccl().empty()) GTEST_SKIP() << why_no_nccl();
  }
};

// A process that has used CUDA cannot fork others that use it, so rank 0 has a process of its own,
// too.
inline void run_device_ranks(int ranks, const std::function<void(TcpGroup&)>& body) {
  if (kTestDevice == DeviceKind::cpu) {
    run_ranks(ranks, body);
    return;
  }
  run_ranks(2, [&](TcpGroup& outer) {
    if (outer.rank() == 1) run_ranks(ranks, body);
  });
}

// The first call gives this process its device.
inline std::unique_ptr<Collectives> device_collectives(TcpGroup& group) {
  if (kTestDevice == DeviceKind::cpu) return std::make_unique<TcpCollectives>(group);
  static const DeviceShare share = take_devices(group, device(kTestDevice));
  return nccl_collectives(group, share);
}

}  // namespace windtunnel

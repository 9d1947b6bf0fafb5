#include "kernels/device/cuda_state.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

// The state of a machine on which kernels run.
CudaState healthy() {
  CudaState state;
  state.devices = 8;
  state.built_cuda = 13000;
  state.driver_cuda = 13000;
  state.nvml_cuda = 13000;
  state.driver = "580.65.06";
  return state;
}

void expect_reason(const CudaState& state, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    EXPECT_NE(why_no_cuda(state).find(word), std::string::npos) << why_no_cuda(state);
  }
}

TEST(CudaState, RunsWhereNothingIsWrong) {
  EXPECT_EQ(why_no_cuda(healthy()), "");
  CudaState later = healthy();
  later.built_cuda = 13010;  // minor versions are compatible
  EXPECT_EQ(why_no_cuda(later), "");
  CudaState without_nvml = healthy();
  without_nvml.nvml_cuda = 0;
  without_nvml.driver = "";
  EXPECT_EQ(why_no_cuda(without_nvml), "");
}

TEST(CudaState, NoDriver) {
  CudaState state = healthy();
  state.devices = 0;
  state.driver_cuda = state.nvml_cuda = 0;
  state.driver = "";
  state.fault = "CUDA driver version is insufficient for CUDA runtime version";
  expect_reason(state, {"no NVIDIA driver", "libcuda.so.1"});
}

TEST(CudaState, DriverOlderThanTheToolkit) {
  CudaState state = healthy();
  state.devices = 0;
  state.driver_cuda = state.nvml_cuda = 12040;
  state.driver = "550.54.14";
  state.fault = "CUDA driver version is insufficient for CUDA runtime version";
  expect_reason(state, {"driver 550.54.14 supports CUDA up to 12.4", "built with 13.0"});
}

TEST(CudaState, TwoDrivers) {
  CudaState state = healthy();
  state.devices = 0;
  state.fault = "system has unsupported display driver / cuda driver combination";
  state.driver_cuda = 12040;
  expect_reason(state, {"two drivers", "580.65.06", "13.0", "12.4", "LD_LIBRARY_PATH"});
  // After a driver upgrade without a restart NVML does not initialise.
  CudaState upgraded = healthy();
  upgraded.nvml_fault = "Driver/library version mismatch";
  upgraded.nvml_cuda = 0;
  expect_reason(upgraded, {"two drivers", "Driver/library version mismatch", "restart"});
}

TEST(CudaState, NoDevice) {
  CudaState state = healthy();
  state.devices = 0;
  state.fault = "no CUDA-capable device is detected";
  EXPECT_EQ(why_no_cuda(state), "no CUDA device: no CUDA-capable device is detected");
  state.visible = "7";
  expect_reason(state, {"CUDA_VISIBLE_DEVICES is '7'"});
}

TEST(CudaState, MemoryThatIsMissing) {
  const std::size_t giga = 1000000000;
  EXPECT_EQ(no_device_memory(4 * giga, giga, 80 * giga),
            "needs 4 GB of the device's memory at once, but only 1 of 80 GB are free; end other "
            "programs on "
            "the device (nvidia-smi lists them), or measure smaller works");
  EXPECT_NE(no_device_memory(100 * giga, 79 * giga, 80 * giga).find("too large for this device"),
            std::string::npos);
}

}  // namespace
}  // namespace windtunnel

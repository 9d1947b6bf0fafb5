#include "kernels/device/host_machine.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <vector>

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

// A folder of files stands in for the machine's /proc and /sys.
class HostMachine : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::path(::testing::TempDir()) / (std::string("host_machine_") + test->name());
    fs::remove_all(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  std::string root() const { return root_.string(); }

 private:
  fs::path root_;
};

TEST_F(HostMachine, ReadsProcAndSys) {
  write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU 7\ncpu MHz\t\t: 2600.5\n");
  write("proc/sys/kernel/osrelease", "6.1.0-9\n");
  write("proc/stat", "cpu  1 2 3 4 5 6 7 250 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n");
  write("sys/class/thermal/thermal_zone0/temp", "41000\n");
  write("sys/class/thermal/thermal_zone1/temp", "57500\n");
  const DeviceDescription host = describe_host(root());
  EXPECT_EQ(host.name, "Some CPU 7");
  EXPECT_EQ(host.driver, "6.1.0-9");
  EXPECT_DOUBLE_EQ(host.clock_Hz, 2600.5e6);
  EXPECT_GE(host.sms, 1);
  EXPECT_GT(host.memory_bytes, 0U);
  const DeviceReadings readings = host_readings(root());
  EXPECT_DOUBLE_EQ(readings.clock_Hz, 2600.5e6);
  EXPECT_DOUBLE_EQ(readings.temperature_C, 57.5);
  EXPECT_DOUBLE_EQ(readings.stolen_s, 250.0 / static_cast<double>(sysconf(_SC_CLK_TCK)));
}

TEST_F(HostMachine, PrefersTheFrequencyOfTheDriver) {
  write("proc/cpuinfo", "cpu MHz\t\t: 2600.5\n");
  write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "3100000\n");
  write("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3700000\n");
  EXPECT_DOUBLE_EQ(host_readings(root()).clock_Hz, 3.1e9);
  EXPECT_DOUBLE_EQ(describe_host(root()).clock_Hz, 3.7e9);
}

// A file that is truncated or empty is treated as a missing one.
TEST_F(HostMachine, LeavesOutWhatIsHidden) {
  write("proc/cpuinfo", "model name\t:\ncpu MHz\t\t: unknown\n");
  write("proc/stat", "cpu  1 2 3\n");
  const DeviceReadings readings = host_readings(root());
  EXPECT_EQ(readings.clock_Hz, 0);
  EXPECT_EQ(readings.temperature_C, 0);
  EXPECT_EQ(readings.stolen_s, 0);
  EXPECT_EQ(describe_host(root()).name, "");
  EXPECT_EQ(describe_host(root()).driver, "");
}

// The look runs between timings of microseconds, so that it must be short. The test takes the
// median, because other processes may take the core during any look.
TEST(CoreDisturbed, LooksAreShortBehindTheFirst) {
  using Clock = std::chrono::steady_clock;
  core_disturbed();
  std::vector<double> looks_s(101);
  for (double& look_s : looks_s) {
    const auto start = Clock::now();
    core_disturbed();
    look_s = std::chrono::duration<double>(Clock::now() - start).count();
  }
  std::ranges::nth_element(looks_s, looks_s.begin() + 50);
  EXPECT_LT(looks_s[50], 1e-3);
}

}  // namespace
}  // namespace windtunnel

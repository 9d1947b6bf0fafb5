#include "kernels/device/host_machine.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>

namespace windtunnel {
namespace {

constexpr const char* kFrequency = "/sys/devices/system/cpu/cpu0/cpufreq/";

// The number at the start of a file; 0 if there is none.
double number_in(const std::string& path) {
  std::ifstream file(path);
  double number = 0;
  return file >> number ? number : 0;
}

// The text after the colon in the first line that starts with `key`.
std::string cpuinfo(const std::string& root, const std::string& key) {
  std::ifstream file(root + "/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (line.rfind(key, 0) != 0 || colon == std::string::npos) continue;
    const std::size_t start = line.find_first_not_of(' ', colon + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return "";
}

double cpuinfo_clock(const std::string& root) {
  std::istringstream text(cpuinfo(root, "cpu MHz"));
  double clock_MHz = 0;
  return text >> clock_MHz ? 1e6 * clock_MHz : 0;
}

// Returns the clock in Hz from `file` of cpufreq, which is in kHz, or else from /proc/cpuinfo.
double clock_of(const std::string& root, const char* file) {
  const double clock_kHz = number_in(root + kFrequency + file);
  return clock_kHz > 0 ? 1e3 * clock_kHz : cpuinfo_clock(root);
}

std::size_t setting(int name) {
  return static_cast<std::size_t>(std::max(sysconf(name), 0L));  // -1: not known
}

// The fields are cpu user nice system idle iowait irq softirq steal (proc(5)).
double stolen_s(const std::string& root) {
  std::ifstream file(root + "/proc/stat");
  std::string word;
  double ticks = 0;
  file >> word;
  for (int column = 0; column < 8; ++column) file >> ticks;
  return file && word == "cpu" ? ticks / static_cast<double>(setting(_SC_CLK_TCK)) : 0;
}

double hottest_zone(const std::string& root) {
  double hottest = 0;
  for (int zone = 0;; ++zone) {
    const std::string path =
        root + "/sys/class/thermal/thermal_zone" + std::to_string(zone) + "/temp";
    if (!std::ifstream(path)) return hottest;
    hottest = std::max(hottest, 1e-3 * number_in(path));
  }
}

double seconds_of(void (*run)()) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  run();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Instructions limited only by the front end, which the two threads of a core share alternately.
void issue() {
  for (int block = 0; block < 450; ++block) asm volatile(".rept 60\n nop\n .endr");
}

// Each instruction waits for the one before, so the time depends on the clock, not on another
// thread.
void chain() {
  std::uint64_t value = 3;
  for (int link = 0; link < 1500; ++link) {
    value *= 0x9E3779B97F4A7C15U;
    asm volatile("" : "+r"(value));
  }
}

struct CoreTimes {
  double issue_s = 0;
  double chain_s = 0;

  double ratio() const { return issue_s / chain_s; }
};

// Takes the shorter of two runs each, because an interrupt may fall into one.
CoreTimes core_times() {
  return {std::min(seconds_of(issue), seconds_of(issue)),
          std::min(seconds_of(chain), seconds_of(chain))};
}

CoreTimes least(const CoreTimes& a, const CoreTimes& b) {
  return {std::min(a.issue_s, b.issue_s), std::min(a.chain_s, b.chain_s)};
}

CoreTimes least_of_a_while() {
  constexpr int kLooks = 3000;  // longer than other tenants work without a pause
  CoreTimes times = core_times();
  for (int i = 0; i < kLooks; ++i) times = least(times, core_times());
  return times;
}

}  // namespace

bool core_disturbed() {
  // Alone, a core's ratios differ by 3 %; next to a busy thread they are 1.4 to 2 times as high
  // (measured on a Xeon of the Sapphire Rapids generation).
  constexpr double kDisturbed = 1.2;
  // The minimum of each time separately, at the highest clock. The least ratio would be wrong: it
  // comes from a chain that was interrupted.
  thread_local CoreTimes whole = least_of_a_while();
  const CoreTimes now = core_times();
  whole = least(whole, now);
  return now.ratio() > kDisturbed * whole.ratio();
}

DeviceDescription describe_host(const std::string& root) {
  DeviceDescription host;
  host.name = cpuinfo(root, "model name");
  std::ifstream release(root + "/proc/sys/kernel/osrelease");
  std::getline(release, host.driver);
  host.memory_bytes = setting(_SC_PHYS_PAGES) * setting(_SC_PAGESIZE);
  host.cache_bytes = std::max(setting(_SC_LEVEL3_CACHE_SIZE), setting(_SC_LEVEL2_CACHE_SIZE));
  host.sms = static_cast<int>(setting(_SC_NPROCESSORS_ONLN));
  host.clock_Hz = clock_of(root, "cpuinfo_max_freq");
  return host;
}

DeviceReadings host_readings(const std::string& root) {
  DeviceReadings readings;
  readings.clock_Hz = clock_of(root, "scaling_cur_freq");
  readings.temperature_C = hottest_zone(root);
  readings.stolen_s = stolen_s(root);
  return readings;
}

}  // namespace windtunnel

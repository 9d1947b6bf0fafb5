#include "kernels/device/nvml.hpp"

#include <dlfcn.h>

#include <array>

namespace windtunnel {
namespace {

// Enumerators of nvml.h that are passed as numbers, and lengths.
constexpr int kSuccess = 0;
constexpr int kClockSm = 1;
constexpr int kClockMemory = 2;
constexpr int kTemperatureGpu = 0;
constexpr unsigned kDriverChars = 80;

}  // namespace

// Whether the function exists and reports success.
template <typename... Arguments>
bool Nvml::call(const char* function, Arguments... arguments) const {
  if (library_ == nullptr) return false;
  void* const symbol = dlsym(library_, function);
  return symbol != nullptr &&
         reinterpret_cast<int (*)(Arguments...)>(symbol)(arguments...) == kSuccess;
}

Nvml::Nvml(const char* library) : library_(dlopen(library, RTLD_NOW | RTLD_LOCAL)) {
  if (library_ == nullptr || call("nvmlInit_v2")) return;
  void* const words = dlsym(library_, "nvmlErrorString");
  // call() does not return the status of the first call; a second call fails in the same way.
  void* const start = dlsym(library_, "nvmlInit_v2");
  if (words != nullptr && start != nullptr) {
    fault_ = reinterpret_cast<const char* (*)(int)>(words)(reinterpret_cast<int (*)()>(start)());
  }
  dlclose(library_);
  library_ = nullptr;
}

Nvml::~Nvml() {
  if (library_ == nullptr) return;
  call("nvmlShutdown");
  dlclose(library_);
}

std::string Nvml::driver() const {
  std::array<char, kDriverChars> text{};
  return call("nvmlSystemGetDriverVersion", text.data(), kDriverChars) ? text.data() : "";
}

int Nvml::cuda_version() const {
  int version = 0;
  return call("nvmlSystemGetCudaDriverVersion", &version) ? version : 0;
}

DeviceReadings Nvml::readings(const std::string& pci_bus_id) const {
  DeviceReadings readings;
  void* device = nullptr;
  if (!call("nvmlDeviceGetHandleByPciBusId_v2", pci_bus_id.c_str(), &device)) return readings;
  unsigned value = 0;
  unsigned pending = 0;  // takes effect after the next reset
  if (call("nvmlDeviceGetClockInfo", device, kClockSm, &value)) readings.clock_Hz = 1e6 * value;
  if (call("nvmlDeviceGetClockInfo", device, kClockMemory, &value)) {
    readings.memory_clock_Hz = 1e6 * value;
  }
  if (call("nvmlDeviceGetTemperature", device, kTemperatureGpu, &value)) {
    readings.temperature_C = value;
  }
  if (call("nvmlDeviceGetPowerUsage", device, &value)) readings.power_W = 1e-3 * value;
  unsigned long long reasons = 0;
  // Later drivers call them event reasons and keep the old name as well.
  if (call("nvmlDeviceGetCurrentClocksThrottleReasons", device, &reasons)) {
    readings.throttle_reasons = reasons;
  }
  if (call("nvmlDeviceGetEccMode", device, &value, &pending)) readings.ecc = value != 0;
  if (call("nvmlDeviceGetMigMode", device, &value, &pending)) readings.mig = value != 0;
  if (call("nvmlDeviceGetPersistenceMode", device, &value)) readings.persistence = value != 0;
  return readings;
}

}  // namespace windtunnel

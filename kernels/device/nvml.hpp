// Readings of NVIDIA's management library, which comes with the driver. It is opened at run time,
// so that nothing depends on it: where it or one of its functions is missing, fields stay 0. Never
// sets anything. Functions, units and bits: NVML API reference (docs.nvidia.com/deploy/nvml-api).
#pragma once

#include <string>

#include "kernels/device/device.hpp"

namespace windtunnel {

class Nvml {
 public:
  explicit Nvml(const char* library = "libnvidia-ml.so.1");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  std::string driver() const;  // "580.65.06"; empty: not known
  int cuda_version() const;    // the latest that this driver runs: 13000; 0: not known
  // Why the library is there and does not start, in its own words; else empty.
  const std::string& fault() const { return fault_; }
  // Of the device at this place, as CUDA names it: "0000:1B:00.0".
  DeviceReadings readings(const std::string& pci_bus_id) const;

 private:
  template <typename... Arguments>
  bool call(const char* function, Arguments... arguments) const;

  std::string fault_;
  void* library_;  // null: not there, or it could not start
};

}  // namespace windtunnel

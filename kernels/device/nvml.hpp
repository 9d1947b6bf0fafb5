// Readings from NVIDIA's management library, which comes with the driver. It is opened at run time
// and is optional: if it or one of its functions is missing, fields stay 0. It is never used to set
// anything. Functions, units and bits: NVML API reference (docs.nvidia.com/deploy/nvml-api).
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
  int cuda_version() const;    // the latest that this driver supports: 13000; 0: not known
  // NVML's message if the library is there but does not start; else empty.
  const std::string& fault() const { return fault_; }
  // The address is that of PCI, such as "0000:1B:00.0".
  DeviceReadings readings(const std::string& pci_bus_id) const;

 private:
  template <typename... Arguments>
  bool call(const char* function, Arguments... arguments) const;

  std::string fault_;
  void* library_;  // null: missing, or it could not start
};

}  // namespace windtunnel

// What Linux tells of the machine: /proc and /sys below `root` ("" for the real ones). Files that a
// container or hypervisor hides leave their fields at 0.
#pragma once

#include <string>

#include "kernels/device.hpp"

namespace windtunnel {

DeviceDescription describe_host(const std::string& root = "");
DeviceReadings host_readings(const std::string& root = "");

}  // namespace windtunnel

// What Linux tells of the machine: /proc and /sys below `root` ("" for the real ones). Files that a
// container or hypervisor hides leave their fields at 0.
#pragma once

#include <string>

#include "kernels/device.hpp"

namespace windtunnel {

DeviceDescription describe_host(const std::string& root = "");
DeviceReadings host_readings(const std::string& root = "");

// Whether the core that calls is not all ours: its other hardware thread works, which a hypervisor
// may have given to another tenant, for a millisecond or for minutes, and /proc/stat does not count
// as stolen. Everything runs at half to nine tenths of its rate then. Seen by how long the front end
// of the core takes for a fixed run of instructions that need nothing else of it, against the least
// that this thread ever saw. 3 us; the first call of a thread 20 ms.
bool core_disturbed();

}  // namespace windtunnel

// What Linux tells of the machine: /proc and /sys below `root` ("" for the real ones). Files that a
// container or hypervisor hides leave their fields at 0.
#pragma once

#include <string>

#include "kernels/device/device.hpp"

namespace windtunnel {

DeviceDescription describe_host(const std::string& root = "");
DeviceReadings host_readings(const std::string& root = "");

// Whether the core that calls is not all ours: its other hardware thread works, which a hypervisor
// may have given to another tenant, for a millisecond or for minutes, and /proc/stat does not count
// as stolen. Works take 1.1 to 1.7 times as long then. Seen by how long the front end of the core
// takes for a fixed run of instructions that need nothing else of it, over a chain of dependent
// ones, which knows the clock but not the neighbour; against the least that this thread ever saw. A
// neighbour that never pauses is not seen. 6 us; the first call of a thread 20 ms.
bool core_disturbed();

}  // namespace windtunnel

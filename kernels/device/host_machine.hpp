// Reads properties of a Linux machine from /proc and /sys below `root` ("" for the real ones). If a
// container or hypervisor hides a file, its fields stay 0.
#pragma once

#include <string>

#include "kernels/device/device.hpp"

namespace windtunnel {

DeviceDescription describe_host(const std::string& root = "");
DeviceReadings host_readings(const std::string& root = "");

// Whether the other hardware thread of the calling core is busy. A hypervisor may have given it to
// another tenant, for a millisecond or for minutes, and /proc/stat does not count this as stolen;
// work then takes 1.1 to 1.7 times as long. It is detected from two times: that of a fixed run of
// instructions limited by the core's front end, and that of a chain of dependent instructions,
// which depends on the clock but not on the neighbour. Their ratio is compared with the lowest that
// this thread has seen. A neighbour that never pauses is not detected. Takes 6 us; the first call
// of a thread takes 20 ms.
bool core_disturbed();

}  // namespace windtunnel

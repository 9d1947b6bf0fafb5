// What a calibration measures: every kernel that the device has a form of over its sizes, to fit
// on, and compositions and sizes between those, to judge the fit by.
#pragma once

#include <vector>

#include "kernels/device.hpp"
#include "validate/harness/measure.hpp"

namespace windtunnel {

// None needs more than `memory_bytes` at a time.
std::vector<TimedWork> kernel_suite(const Device& device, double memory_bytes);

}  // namespace windtunnel

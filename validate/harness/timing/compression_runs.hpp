// Prepares one kernel of a compressor, by its name in models/calibration/kernel_work.hpp, on
// normally distributed gradients.
#pragma once

#include <string_view>

#include "validate/harness/timing/kernel_runs.hpp"

namespace windtunnel {

// nullptr: not a compressor's kernel.
PrepareKernel find_compressor(std::string_view kernel);

}  // namespace windtunnel

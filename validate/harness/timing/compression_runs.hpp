// Compressors' kernels one at a time, by their names in models/calibration/kernel_work.hpp, on
// gradients of a normal law.
#pragma once

#include <string_view>

#include "validate/harness/timing/kernel_runs.hpp"

namespace windtunnel {

// nullptr: none of them.
PrepareKernel find_compressor(std::string_view kernel);

}  // namespace windtunnel

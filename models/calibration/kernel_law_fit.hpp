// Laws of measured kernels (kernel_law.hpp) from their samples.
#pragma once

#include <cstddef>
#include <span>

#include "models/calibration/kernel_law.hpp"
#include "models/calibration/sample.hpp"

namespace windtunnel {

constexpr std::size_t kLeastSizes = 4;  // needed for a law

// Fits the samples with role fit, after removing the slowdown by other works on the same cores.
// run_spread also uses repeated samples. Throws Error, naming the kernel, if it has too few sizes.
KernelLaws fit_kernel_laws(std::span<const Sample> samples);

}  // namespace windtunnel

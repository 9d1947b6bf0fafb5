// Laws of measured kernels (kernel_law.hpp) from their samples.
#pragma once

#include <cstddef>
#include <span>

#include "models/calibration/kernel_law.hpp"
#include "models/calibration/sample.hpp"

namespace windtunnel {

constexpr std::size_t kLeastSizes = 4;  // of a law

// Fits the samples with role fit, by the time that works beside others would have taken alone;
// run_spread also uses those that were measured again. Throws Error when a kernel has too few
// sizes, naming it.
KernelLaws fit_kernel_laws(std::span<const Sample> samples);

}  // namespace windtunnel

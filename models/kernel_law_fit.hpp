// Laws of measured kernels (kernel_law.hpp) from their samples.
#pragma once

#include <span>

#include "models/kernel_law.hpp"
#include "models/sample.hpp"

namespace windtunnel {

// Four of five series or more rest on timings beside others: then laws are of the machine as it is
// shared, and these rows count like all others.
bool mostly_disturbed(std::span<const Sample> samples);

// Of the samples with role fit; run_spread also from those measured again. Throws Error when a
// kernel has too few sizes, naming it.
KernelLaws fit_kernel_laws(std::span<const Sample> samples);

}  // namespace windtunnel

// Laws of measured kernels as a section of a calibration's file, `kernel_laws`: written by
// windtunnel calibrate, read back to the last bit by windtunnel validate samples.
#pragma once

#include <string>

#include "models/kernel_law.hpp"

namespace windtunnel {

std::string kernel_laws_text(const KernelLaws& laws);

// Of a calibration's file. Throws Error with the place of what is wrong, or when it has none.
KernelLaws read_kernel_laws(const std::string& path);

}  // namespace windtunnel

// Laws of measured kernels as a section of a calibration's file, `kernel_laws`: written by
// windtunnel calibrate, read back to the last bit.
#pragma once

#include <string>

#include "models/calibration/kernel_law.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {

std::string kernel_laws_text(const KernelLaws& laws);

// Throws Error with the place of what is wrong.
KernelLaws read_kernel_laws(const DocumentNode& section);

// Reads a calibration's file. Throws Error with the place of a fault, or if it has no laws.
KernelLaws read_kernel_laws(const std::string& path);

}  // namespace windtunnel

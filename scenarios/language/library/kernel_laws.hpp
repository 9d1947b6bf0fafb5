// Laws of measured kernels as the section `kernel_laws` of a calibration's file, which `windtunnel
// calibrate` writes and which reads back exactly.
#pragma once

#include <string>

#include "models/calibration/kernel_law.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {

std::string kernel_laws_text(const KernelLaws& laws);

// Throws Error with the place of the fault.
KernelLaws read_kernel_laws(const DocumentNode& section);

// Reads a calibration's file. Throws Error with the place of a fault, or if the file has no laws.
KernelLaws read_kernel_laws(const std::string& path);

}  // namespace windtunnel

// Writes and reads the laws of measured kernels, the section `kernel_laws` in a calibration's file,
// without loss. `windtunnel calibrate` writes the section.
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

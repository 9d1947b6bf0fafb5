// The first lines of each calibration of the library hold its name and its GPU. To find one, the
// others need not be read whole.
#pragma once

#include <string>
#include <vector>

#include "scenarios/language/library/library.hpp"

namespace windtunnel {

struct CalibrationHead {
  std::string name;
  std::string gpu;   // Calibration::gpu
  LibraryFile file;  // all of it
};

const std::vector<CalibrationHead>& library_calibration_heads();

}  // namespace windtunnel

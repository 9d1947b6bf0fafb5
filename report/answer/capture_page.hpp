// The page of `windtunnel trace import` of what a profiler recorded: what the command prints, and
// of each rank whose passes are matched the traced ones with the predicted ones below them, on one
// axis of time.
#pragma once

#include <string>

#include "report/captured/captured_report.hpp"

namespace windtunnel {

std::string capture_page(const CaptureAnswer& answer);

}  // namespace windtunnel

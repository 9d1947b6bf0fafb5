// Constants of a calibration by which a scenario's kernels take the time that a trace has: the
// efficiencies of products, attention and memory-bound kernels, and the optimizer's bytes. To first
// order: a kernel's time is taken to go with the inverse of its efficiency.
#pragma once

#include "models/calibration/calibration.hpp"
#include "report/captured/captured_report.hpp"

namespace windtunnel {

// Of the first file's rank; classes of kernels that one of both does not have stay as they are.
// `answer` has a prediction. Throws Error where `from` has laws of kernels (kernel_laws), which
// would stand before these constants.
Calibration captured_calibration(const Calibration& from, const CaptureAnswer& answer);

}  // namespace windtunnel

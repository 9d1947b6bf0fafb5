// Constants of a calibration by which a scenario's kernels take the time that a trace has: the
// efficiencies of products, attention and memory-bound kernels, and the optimizer's bytes. To first
// order: a kernel's time is taken to go with the inverse of its efficiency. Where a measured law
// stands before a constant (kernel_laws), the law's times are drawn out or together instead.
#pragma once

#include "models/plan/job.hpp"
#include "report/captured/captured_report.hpp"

namespace windtunnel {

// The job's calibration, fitted to the first file's rank; classes of kernels that one of both does
// not have stay as they are. `answer` has a prediction, of the job.
Calibration captured_calibration(const Job& job, const CaptureAnswer& answer);

}  // namespace windtunnel

// Derives constants of a calibration with which a scenario's kernels take the times of a trace: the
// efficiencies of products, attention and memory-bound kernels, and the optimizer's bytes. The fit
// is of first order: it takes a kernel's time to be inverse to its efficiency. If a measured law
// replaces a constant (kernel_laws), the times of the law are scaled instead.
#pragma once

#include "models/plan/job.hpp"
#include "report/captured/captured_report.hpp"

namespace windtunnel {

// The job's calibration, fitted to the first file's rank. Classes of kernels that the trace or the
// prediction lacks do not change. `answer` must have a prediction of the job.
Calibration captured_calibration(const Job& job, const CaptureAnswer& answer);

}  // namespace windtunnel

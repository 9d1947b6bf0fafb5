// Time that the GPU waits for the host to launch kernels. With a launch queue that never drains,
// the GPU waits only if the host's total time exceeds its own; without a queue, before every kernel
// that is shorter than its launch. Frameworks are in between (Calibration::host_run_ahead), because
// they synchronise now and then (loss, messages, gradient hooks).
#pragma once

#include <span>

#include "models/calibration/calibration.hpp"
#include "models/workload/software.hpp"

namespace windtunnel {

struct Launched {
  double host_s = 0;  // CPU time
  double gpu_s = 0;   // for a collective: the part not covered by kernels
  // For a collective: by how much the kernels that overlap it last longer than their own launches.
  // The host launches the collective in that time. The covered time would be a wrong measure,
  // because a faster link covers less.
  double beside_s = 0;
};

// CPU time in seconds of an operation with `launches` kernels. The first kernel costs
// Calibration::host_launch_s, each further one Calibration::host_kernel_s, but at most as much as
// the first. If `launches` is below 1, it costs this fraction of the first kernel.
double host_launch_s(const Calibration& calibration, const Software& software, double launches);
// CPU time if the module has launched other kernels before, so that all of these count as further
// ones.
double further_launch_s(const Calibration& calibration, const Software& software, double launches);

// Total time by which kernels last longer than their launches.
double host_spare_s(std::span<const Launched> kernels);

// `launched`: between two synchronisations; `run_ahead`: 0 to 1.
double host_wait_s(std::span<const Launched> launched, double run_ahead);

}  // namespace windtunnel

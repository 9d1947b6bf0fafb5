// What the GPU waits for the host, which launches its kernels one after the other. With a queue
// that never empties it waits only where the host takes longer for all of them than it does
// itself; without one, for every kernel that is shorter than its launch. Frameworks are in between
// (Calibration::host_run_ahead): here and there they synchronise (loss, messages, gradient hooks).
#pragma once

#include <span>

#include "models/calibration/calibration.hpp"
#include "models/workload/software.hpp"

namespace windtunnel {

struct Launched {
  double host_s = 0;  // CPU time
  double gpu_s = 0;   // a collective: the part that no kernel covers
  // A collective: by how much the kernels beside it last longer than their own launches. The host
  // launches it in that time. The covered time would not do: a faster link leaves less of it.
  double beside_s = 0;
};

// CPU time of an operation of so many kernels, seconds. The first kernel costs what its module does
// (Calibration::host_launch_s), each further one Calibration::host_kernel_s, but never more than
// the first. A part of an operation (below 1) costs that part.
double host_launch_s(const Calibration& calibration, const Software& software, double launches);
// The same where the module has launched other kernels before, so that all of these are further
// ones.
double further_launch_s(const Calibration& calibration, const Software& software, double launches);

// By how much kernels last longer than their launches, all together.
double host_spare_s(std::span<const Launched> kernels);

// `launched` between two synchronisations; `run_ahead`: 0 to 1.
double host_wait_s(std::span<const Launched> launched, double run_ahead);

}  // namespace windtunnel

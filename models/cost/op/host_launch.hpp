// What the GPU waits for the host, which launches its kernels one after the other. With a queue
// that never empties it waits only where the host takes longer for all of them than it does
// itself; without one, for every kernel that is shorter than its launch. Frameworks are in between
// (Calibration::host_run_ahead): here and there they synchronise (loss, messages, gradient hooks).
#pragma once

#include <span>

namespace windtunnel {

struct Launched {
  double launches = 1;
  double gpu_s = 0;
};

// `launched` between two synchronisations, `launch_s` for each launch; `run_ahead`: 0 to 1.
double host_wait_s(std::span<const Launched> launched, double launch_s, double run_ahead);

}  // namespace windtunnel

// Which part of a suite is measured where there is not the time for all: first what laws cannot be
// fitted without, then sizes between and works that judge.
#pragma once

#include <span>
#include <vector>

#include "kernels/device/device.hpp"
#include "validate/harness/timing/timed_work.hpp"

namespace windtunnel {

// TimedWork::tier of each. 0: of each law as many sizes as it needs, over its whole range. 1: every
// second of its other sizes, and of the works of each kind that judge. 2: the rest.
std::vector<int> tiers_of(std::span<const TimedWork> works);

// How long a block of timings of it takes, with making its buffers: as a multiple of what the
// smallest work takes. CPU: fitted on a host. CUDA: by the rates of data sheets (assumed).
double effort_of(const TimedWork& work, DeviceKind kind);

struct PricedWork {
  int tier = 0;
  double seconds = 0;  // that measuring it once is expected to take
};

// Whether each is measured: all of tier 0; then, tier by tier and in the order given, what the rest
// of the time suffices for.
std::vector<bool> affordable(std::span<const PricedWork> works, double time_s);

}  // namespace windtunnel

// Selects the part of a suite to measure if time is short: first works that the laws need, then
// intermediate sizes and works for judging.
#pragma once

#include <span>
#include <vector>

#include "kernels/device/device.hpp"
#include "validate/harness/timing/timed_work.hpp"

namespace windtunnel {

// [work] TimedWork::tier. 0: for each law as many sizes as it needs, over its whole range. 1: every
// second one of its other sizes, and of each kind of judging works. 2: the rest.
std::vector<int> tiers_of(std::span<const TimedWork> works);

// The expected time of a block of timings, including its buffers, relative to that of the smallest
// work. CPU: fitted on a host. CUDA: from the rates of data sheets (assumed).
double effort_of(const TimedWork& work, DeviceKind kind);

struct PricedWork {
  int tier = 0;
  double seconds = 0;  // expected time to measure it once
};

// [work] Whether it is measured: all of tier 0; then, tier by tier and in the given order, as many
// as fit into the rest of the time.
std::vector<bool> affordable(std::span<const PricedWork> works, double time_s);

}  // namespace windtunnel

// A work to be measured, its purpose, and how to run it.
#pragma once

#include <functional>

#include "models/calibration/sample.hpp"

namespace windtunnel {

struct TimedWork {
  KernelSteps steps;
  SampleRole role = SampleRole::fit;
  CacheState cache = CacheState::warm;
  // Creates the buffers. The result owns them, and runs the work once (on a device: starts it).
  std::function<std::function<void()>()> prepare = {};
  int tier = 0;  // 0: always measured; if time is short, the highest tiers are left out first
};

}  // namespace windtunnel

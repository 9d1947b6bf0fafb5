// What is measured: a work, why, and how it is made to run.
#pragma once

#include <functional>

#include "models/calibration/sample.hpp"

namespace windtunnel {

struct TimedWork {
  KernelSteps steps;
  SampleRole role = SampleRole::fit;
  CacheState cache = CacheState::warm;
  // Makes the buffers; what it returns owns them and runs the work once (starts it, on a device).
  std::function<std::function<void()>()> prepare = {};
  int tier = 0;  // 0: always measured; where time is short, the highest are left out first
};

}  // namespace windtunnel

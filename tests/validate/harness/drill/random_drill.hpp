// The short and the long test of drills draw random stacks of tiers and failures here.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/validate/harness/drill/drill.hpp"

namespace windtunnel {

Drill random_drill(std::uint64_t index);

struct DrillCount {
  int recovered = 0;
  int unrecoverable = 0;
  // Relative errors of the predicted times of recoveries are shares of the measured times.
  std::vector<double> time_errors;
};
// Runs `count` drills from number `first` on, and compares each with its prediction and every byte
// of the state.
DrillCount run_random_drills(std::uint64_t first, std::uint64_t count);

}  // namespace windtunnel

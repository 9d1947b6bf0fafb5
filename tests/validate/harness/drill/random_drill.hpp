// Random stacks of tiers and failures: what the short and the long test of drills draw.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/validate/harness/drill/drill.hpp"

namespace windtunnel {

Drill random_drill(std::uint64_t index);

struct DrillCount {
  int recovered = 0;
  int unrecoverable = 0;
  // How far the foreseen time of each recovery was off, as a share of the measured one.
  std::vector<double> time_errors;
};
// Runs those and holds each to what was foreseen and to every byte of the state.
DrillCount run_random_drills(std::uint64_t first, std::uint64_t count);

}  // namespace windtunnel

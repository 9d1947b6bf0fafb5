// From a Case to its Record: costs, schedule, memory, Plan, engine, campaign.
#pragma once

#include "models/record.hpp"
#include "scenarios/case.hpp"

namespace windtunnel {

struct SimulateOptions {
  int threads = 0;          // for the campaign; 0: all cores
  bool allow_oom = false;   // simulate although it does not fit in memory
  bool progress = false;    // lines on stderr
};

Record simulate(const Case& the_case, const SimulateOptions& options = {});

}  // namespace windtunnel

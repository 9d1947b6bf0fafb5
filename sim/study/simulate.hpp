// From a Case to its Record: costs, schedule, memory, Plan, engine, campaign.
#pragma once

#include <functional>
#include <string>

#include "models/results/record.hpp"
#include "policies/lowering/iteration_estimate.hpp"
#include "scenarios/language/case.hpp"

namespace windtunnel {

struct SimulateOptions {
  int threads = 0;         // for the campaign; 0: all cores
  bool allow_oom = false;  // simulate although it does not fit in memory
  std::function<void(const std::string&)> progress = {};  // told each step before it starts
};

// Throws Error, exit code 2: the case contradicts itself; exit code 1: it does not fit in GPU or
// host memory (unless allow_oom: then Record::memory_excess says so).
Record simulate(const Case& the_case, const SimulateOptions& options = {});

// Which memory, of GPUs or hosts, the job does not fit in, and by how much; empty: it fits.
std::string memory_excess(const Job& job, const PreparedIteration& prepared);

// The Plan of one iteration without snapshots, as simulate() executes it.
Plan plain_plan(const Job& job);

}  // namespace windtunnel

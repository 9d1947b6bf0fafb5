// The plan of a scenario of one job or of several, as commands that execute it read it.
#pragma once

#include <string>
#include <vector>

#include "cli/program/command.hpp"
#include "validate/accuracy/execution/executed_plan.hpp"

namespace windtunnel {

// `ranks_per_node`: in place of the scenario's; 0: as it says. Throws Error as load_scenario() and
// executed_plan() do.
ExecutedPlan read_executed_plan(const std::string& path, const std::vector<std::string>& set,
                                int ranks_per_node = 0);

// --kernels cpu|cuda.
void add_kernels_option(const CommandLine& app, std::string& device);
// Measures the kernels that the plan's computations will run; "": they are waits. Throws Error as
// measured_kernels() does.
void take_kernels(ExecutedPlan& executed, const std::string& device);

// --nccl. Throws Error where there is no NCCL or no GPU.
void take_nccl(ExecutedPlan& executed);

// Whether this machine has one of this cluster. Where it has none, stderr says why, and what runs
// instead.
bool testbed_is_there(const Cluster& cluster);

}  // namespace windtunnel

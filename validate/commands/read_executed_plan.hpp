// Reads the plan of a scenario of one or several jobs, for commands that execute it.
#pragma once

#include <string>
#include <vector>

#include "cli/program/command.hpp"
#include "validate/accuracy/execution/executed_plan.hpp"

namespace windtunnel {

// `ranks_per_node` overrides the scenario's; 0: does not. Throws Error as load_scenario() and
// executed_plan() do.
ExecutedPlan read_executed_plan(const std::string& path, const std::vector<std::string>& set,
                                int ranks_per_node = 0);

// Adds --kernels cpu|cuda.
void add_kernels_option(const CommandLine& app, std::string& device);
// Measures the kernels that the plan's computations will run; "": computations are waits. Throws
// Error as measured_kernels() does.
void take_kernels(ExecutedPlan& executed, const std::string& device);

// Applies --nccl. Throws Error without NCCL or a GPU.
void take_nccl(ExecutedPlan& executed);

// Whether this machine can emulate the cluster with a testbed. If not, prints the reason and the
// alternative to stderr.
bool testbed_is_there(const Cluster& cluster);

}  // namespace windtunnel

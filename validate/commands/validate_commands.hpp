// The commands of windtunnel-validate, and subcommands of `windtunnel validate` in files of their
// own; each function adds one.
#pragma once

#include <string>
#include <vector>

#include "cli/program/command.hpp"
#include "validate/accuracy/execution/executed_plan.hpp"
#include "validate/commands/validations.hpp"

namespace windtunnel {

Handler define_execute(const CommandLine& app);
Handler define_validate(CLI::App& app);
Handler define_calibrate(const CommandLine& app);

// The subject of --fail-above for files of any kind, in the help of add_verdict().
inline constexpr const char* kBoundOfAnyKind =
    "a family, or for fault points the share of values outside of their range,";

// windtunnel validate FILE...: files of measured rows, each recognised by its header. If all are of
// one kind, they are judged as by the kind's own command; otherwise with the defaults of each kind.
// `app` tells which options were given.
ExitCode validate_files(const CLI::App& app, const ValidateOptions& options);

// `all` judges files of any kind together, each kind with its defaults, and prints one table.
ValidationCommand define_validate_all(CLI::App& validate);

// `execution`: executes plans of scenarios on this machine, and compares them with simulations that
// include this machine's overheads, which are measured on other plans first.
ValidationCommand define_validate_execution(CLI::App& validate);

// Reads the plan of a scenario of one or several jobs, for commands that execute it. If it is not
// 0, `ranks_per_node` overrides the scenario's number. Throws Error as load_scenario() and
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

// Runs the tasks of traces on the machine of a scenario.
#pragma once

#include <cstdint>
#include <string>

#include "models/plan/timeline.hpp"
#include "report/figures/figures.hpp"
#include "scenarios/language/case.hpp"

namespace windtunnel {

// Throws Error if the machine has fewer than `ranks` GPUs.
void check_ranks(const Case& on, std::int64_t ranks, const std::string& scenario);

// Throws Error if the machine has jitter, or too few GPUs.
void check_machine(const Case& on, const Plan& plan, const std::string& scenario);

// Times the tasks on a machine that check_machine() accepts. Transfers of tasks that another
// program wrote (`foreign`) get the machine's latencies, and the scenario chooses how collectives
// run.
Timeline time_on_machine(const Case& on, Plan& plan, bool foreign = true);

// The range of the step of foreign tasks, given the tasks as they were before time_on_machine().
// All communication gets faster or slower by what is uncertain about the network: the calibration's
// network numbers at the ends of their intervals, and the error of its law (communication_error()).
FigureRange step_range(const Case& on, const Plan& plan);

}  // namespace windtunnel

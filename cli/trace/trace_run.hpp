// Tasks of traces on the machine of a scenario.
#pragma once

#include <cstdint>
#include <string>

#include "models/plan/timeline.hpp"
#include "report/figures/figures.hpp"
#include "scenarios/language/case.hpp"

namespace windtunnel {

// Throws Error where the machine has fewer GPUs than that.
void check_ranks(const Case& on, std::int64_t ranks, const std::string& scenario);

// Throws Error where the machine jitters or has too few GPUs.
void check_machine(const Case& on, const Plan& plan, const std::string& scenario);

// Of tasks that were written elsewhere (`foreign`) transfers get the latencies of the machine; how
// collectives run is the scenario's choice. On a machine that
// check_machine() has seen.
Timeline time_on_machine(const Case& on, Plan& plan, bool foreign = true);

// The step of foreign tasks, as they were before time_on_machine(), where all communication is
// faster, or slower, by what is not known of the network: the calibration's numbers of it at the
// ends of their intervals, and how far its law may be off (communication_error()).
FigureRange step_range(const Case& on, const Plan& plan);

}  // namespace windtunnel

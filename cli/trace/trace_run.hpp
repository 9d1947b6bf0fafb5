// Tasks of traces on the machine of a scenario.
#pragma once

#include <cstdint>
#include <string>

#include "models/plan/timeline.hpp"
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

}  // namespace windtunnel

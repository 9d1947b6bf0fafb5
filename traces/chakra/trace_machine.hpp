// An imported Plan on the machine of a scenario: its collectives run as the scenario says, and what
// a foreign trace does not say costs what it costs there.
#pragma once

#include "models/plan/job.hpp"
#include "models/plan/plan.hpp"

namespace windtunnel {

// By communication.collectives and communication.fidelity: a collective of which they say nothing,
// or what it does anyway, stays as it is. Throws Error as collective_choice() does.
void run_collectives_as(const Job& job, Plan& plan);

// Gives sends and collectives without a cost, as those of foreign traces are, the latency that they
// have on this machine.
void add_latencies(Plan& plan, const Cluster& cluster, const Calibration& calibration);

}  // namespace windtunnel

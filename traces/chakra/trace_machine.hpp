// An imported Plan on the machine of a scenario: its collectives run as the scenario says, and what
// a foreign trace does not say costs what it costs there.
#pragma once

#include "models/calibration/calibration.hpp"
#include "models/machine/cluster.hpp"
#include "models/plan/job.hpp"
#include "models/plan/plan.hpp"

namespace windtunnel {

// By communication.collectives and communication.fidelity: a collective of which they say nothing,
// or what it does anyway, stays as it is. Throws Error as collective_choice() does.
void run_collectives_as(const Job& job, Plan& plan);

// Gives sends and collectives without a cost, as those of foreign traces are, the latency that they
// have on this machine, and sends the bytes that its links move in place of theirs.
void add_transfer_costs(Plan& plan, const Cluster& cluster, const Calibration& calibration);

// How far what the machine's law says of collectives and messages may be off, either way: the
// factors that 95 % of them stay within (noise.log and noise.small_log of
// models/calibration/interconnect_law.hpp). 1 where the law does not say.
struct CommunicationError {
  double large = 1;  // from kLargeCollective_bytes on
  double small = 1;
};
CommunicationError communication_error(const Cluster& cluster, const Calibration& calibration);

// Every collective and message takes so many times as long: its cost and its bytes.
void scale_communication(Plan& plan, double large, double small);

}  // namespace windtunnel

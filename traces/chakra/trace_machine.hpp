// Prepares an imported Plan for the machine of a scenario: collectives run as the scenario says,
// and costs that a foreign trace does not state are those of the machine.
#pragma once

#include "models/calibration/calibration.hpp"
#include "models/machine/cluster.hpp"
#include "models/plan/job.hpp"
#include "models/plan/plan.hpp"

namespace windtunnel {

// Applies communication.collectives and communication.fidelity. Collectives to which they do not
// apply, or that already run so, do not change. Throws Error as collective_choice() does.
void run_collectives_as(const Job& job, Plan& plan);

// Gives sends and collectives without a cost, as in foreign traces, the latency of this machine,
// and replaces the bytes of sends by those that its links move.
void add_transfer_costs(Plan& plan, const Cluster& cluster, const Calibration& calibration);

// The error of the machine's law for collectives and messages, in either direction: factors within
// which 95 % of the times lie (noise.log and noise.small_log of
// models/calibration/interconnect_law.hpp). 1 if the law does not state it.
struct CommunicationError {
  double large = 1;  // from kLargeCollective_bytes on
  double small = 1;
};
CommunicationError communication_error(const Cluster& cluster, const Calibration& calibration);

// Multiplies the cost and bytes of every collective and message by the factor for its size.
void scale_communication(Plan& plan, double large, double small);

}  // namespace windtunnel

// How long a message between the ranks of two pipeline stages takes on an idle network.
#pragma once

#include "models/plan/job.hpp"
#include "policies/exchange/replica_groups.hpp"

namespace windtunnel {

// Time of a message. All ranks of a stage send concurrently, so those behind one NIC share it.
double boundary_s(const Job& job, const MessageWay& way, double bytes);
// The part of the latency between two nodes in which the link is not occupied.
double boundary_latency_s(const Job& job, const MessageWay& way);
// The message goes from pipeline rank `from` to the next one, or from the last to 0.
double boundary_s(const Job& job, int from, double bytes);
double boundary_latency_s(const Job& job, int from);

}  // namespace windtunnel

// How long a message between the ranks of two pipeline stages takes on an idle network.
#pragma once

#include "models/plan/job.hpp"
#include "policies/exchange/replica_groups.hpp"

namespace windtunnel {

// Returns the time of a message. All ranks of a stage send at once and share NICs.
double boundary_s(const Job& job, const MessageWay& way, double bytes);
// Returns the part of a message's latency between two nodes in which the link is free.
double boundary_latency_s(const Job& job, const MessageWay& way);
// These are for the message from pipeline rank `from` to the next one, or from the last to 0.
double boundary_s(const Job& job, int from, double bytes);
double boundary_latency_s(const Job& job, int from);

}  // namespace windtunnel

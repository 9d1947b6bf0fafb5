// What a message between the ranks of two pipeline stages takes on an idle network.
#pragma once

#include "models/plan/job.hpp"
#include "policies/exchange/replica_groups.hpp"

namespace windtunnel {

// All ranks of a stage send at once, so those behind one NIC share it.
double boundary_s(const Job& job, const MessageWay& way, double bytes);
// The part of a message's latency between two nodes that is not on a link's account.
double boundary_latency_s(const Job& job, const MessageWay& way);
// From pipeline rank `from` to the next one, the last one to 0.
double boundary_s(const Job& job, int from, double bytes);
double boundary_latency_s(const Job& job, int from);

}  // namespace windtunnel

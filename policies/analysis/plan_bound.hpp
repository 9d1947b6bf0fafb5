// A lower bound on the time of any execution of a Plan. It is the longest of three kinds of times:
// bytes that must enter and leave a GPU, a node or a part of the fabric, over the bandwidth of all
// links that join it to the rest; bytes of transfers whose paths all cross one link, over its
// bandwidth; the kernels of the busiest GPU. The bytes are those that each collective must move on
// any route, not a simulation's flows, so the bound can contradict a simulation.
#pragma once

#include <string>

#include "models/machine/cluster.hpp"
#include "models/plan/plan.hpp"
#include "models/plan/timeline.hpp"
#include "policies/analysis/plan_bytes.hpp"

namespace windtunnel {

// The bound covers all iterations of the Plan together.
struct PlanBound {
  double link_s = 0;
  std::string
      link;  // "NICs of node 3", "uplinks of pod 0", "host-bridge 1"; empty: nothing is sent
  double compute_s = 0;

  double seconds() const { return link_s > compute_s ? link_s : compute_s; }
};

PlanBound plan_bound(const Plan& plan, const Cluster& cluster, CountedTransfers counted);

// Throws InternalError if a simulation of the Plan is faster than the bound of its flows.
void check_bound(const Plan& plan, const Cluster& cluster, const Timeline& timeline);

}  // namespace windtunnel

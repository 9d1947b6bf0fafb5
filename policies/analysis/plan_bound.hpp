// What no execution of a Plan beats: the bytes that have to enter and leave a GPU, a node or a part
// of the fabric over the bandwidth of all links that join it, those of a single link that all their
// ways cross, and the kernels of the busiest GPU. Counted from what each collective must move
// whatever its routes, not from the flows of a simulation, so that it can contradict one.
#pragma once

#include <string>

#include "models/machine/cluster.hpp"
#include "models/plan/plan.hpp"
#include "models/plan/timeline.hpp"
#include "policies/analysis/plan_bytes.hpp"

namespace windtunnel {

// The bound for all iterations of the Plan together.
struct PlanBound {
  double link_s = 0;
  std::string
      link;  // "NICs of node 3", "uplinks of pod 0", "host-bridge 1"; empty: nothing is sent
  double compute_s = 0;

  double seconds() const { return link_s > compute_s ? link_s : compute_s; }
};

PlanBound plan_bound(const Plan& plan, const Cluster& cluster, CountedTransfers counted);

// Throws InternalError where a simulation of the Plan beats what it counts as flows.
void check_bound(const Plan& plan, const Cluster& cluster, const Timeline& timeline);

}  // namespace windtunnel

// What no execution of a Plan beats: the bytes that have to enter and leave a node, a pod of a tree
// or a group of a dragonfly, over the bandwidth that it has for them, and the kernels of the
// busiest GPU. Counted from what each collective must move whatever its routes, not from the flows
// of a simulation, so that it can contradict one.
#pragma once

#include <string>

#include "models/machine/cluster.hpp"
#include "models/plan/plan.hpp"
#include "models/plan/timeline.hpp"

namespace windtunnel {

// Of all iterations of the Plan together.
struct PlanBound {
  double link_s = 0;
  std::string link;  // "NICs of node 3", "uplinks of pod 0", "bundles of group 1"; empty: nothing
                     // leaves a node
  double compute_s = 0;

  double seconds() const { return link_s > compute_s ? link_s : compute_s; }
};

enum class CountedTransfers {
  as_flows,  // those that share links in a simulation
  all,       // also those that take the time of a closed form
};

PlanBound plan_bound(const Plan& plan, const Cluster& cluster, CountedTransfers counted);

// Throws InternalError where a simulation of the Plan beats what it counts as flows.
void check_bound(const Plan& plan, const Cluster& cluster, const Timeline& timeline);

}  // namespace windtunnel

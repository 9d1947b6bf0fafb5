// Joins the Plans of several jobs into one, and their clusters into one. The engine then simulates
// the jobs side by side, and their flows share the links of one fabric.
#pragma once

#include <vector>

#include "models/machine/cluster.hpp"
#include "models/plan/plan.hpp"

namespace windtunnel {

// Ranks, groups and classes of each job follow those of the job before. Each job counts its own
// iterations.
struct JoinedPlan {
  Plan plan;
  // [job]: index of its first class; the last entry is the number of classes
  std::vector<std::int32_t> first_class;
};

// Nothing of job j starts before start_s[j].
JoinedPlan joined(std::vector<Plan> plans, const std::vector<double>& start_s);

// Joins jobs on one machine: each job's nodes follow those of the job before and keep their places.
// The machine itself is taken from the first job, and what unlike nodes have in common
// (Cluster::shared) from the jobs that are on several pools.
Cluster joined(const std::vector<const Cluster*>& clusters);

}  // namespace windtunnel

// Plans of several jobs as one, and their clusters as one: what the engine needs to simulate jobs
// side by side, whose flows then share the links of one fabric.
#pragma once

#include <vector>

#include "models/machine/cluster.hpp"
#include "models/plan/plan.hpp"

namespace windtunnel {

// Ranks, groups and classes of each follow those of the one before. Iterations are counted by each
// job for itself.
struct JoinedPlan {
  Plan plan;
  std::vector<std::int32_t> first_class;  // [job], and one more: where its classes begin
};

// `start_s`: [job] nothing of it starts before.
JoinedPlan joined(std::vector<Plan> plans, const std::vector<double>& start_s);

// Jobs on one machine: nodes of each follow those of the one before and stand where they stood.
// What else the machine is, the first says; what groups of unlike nodes have, those jobs that have
// such groups.
Cluster joined(const std::vector<const Cluster*>& clusters);

}  // namespace windtunnel

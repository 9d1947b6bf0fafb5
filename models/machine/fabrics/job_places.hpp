// Which nodes of a machine several jobs stand on, side by side.
#pragma once

#include <vector>

#include "models/base/choice.hpp"
#include "models/machine/cluster.hpp"

namespace windtunnel {

enum class JobPlacement {
  packed,       // one job after the other, each on the first nodes that are free
  spread,       // the same, but nodes are taken from the parts of the fabric in turn
  interleaved,  // a node for each job in turn, on the first that is free
};
template <>
inline constexpr Choice<JobPlacement> kChoices<JobPlacement>[] = {
    {"packed", JobPlacement::packed},
    {"spread", JobPlacement::spread},
    {"interleaved", JobPlacement::interleaved}};

// The nodes of the machine part by part: leaves of a clos, pods of another tree, sites, groups of a
// dragonfly; all of another fabric are one part.
std::vector<std::vector<int>> fabric_parts(const Cluster& machine);

// [pool] whether any node of the job stands on it; empty: all nodes are alike.
std::vector<bool> pools_in_use(const Cluster& cluster);

// [job][node of the job] -> node of the machine. `stated`: [job] its places where somebody said
// them, distinct over all jobs; empty: to be chosen. `wanted`: [job][node of the job] the pool that
// it must stand on; empty: any. Jobs that want pools choose first. `nodes` of the jobs are no more
// than there are, and none wants more of a pool than it has beside those stated.
std::vector<std::vector<int>> places_of_jobs(const Cluster& machine, JobPlacement placement,
                                             const std::vector<int>& nodes,
                                             std::vector<std::vector<int>> stated,
                                             const std::vector<std::vector<int>>& wanted = {});

}  // namespace windtunnel

// Places several jobs side by side on the nodes of one machine.
#pragma once

#include <vector>

#include "models/base/choice.hpp"
#include "models/machine/cluster.hpp"

namespace windtunnel {

enum class JobPlacement {
  packed,       // one job after the other, each on the first free nodes
  spread,       // the same, but taking nodes from the parts of the fabric in turn
  interleaved,  // one node for each job in turn, on the first free node
};
template <>
inline constexpr Choice<JobPlacement> kChoices<JobPlacement>[] = {
    {"packed", JobPlacement::packed},
    {"spread", JobPlacement::spread},
    {"interleaved", JobPlacement::interleaved}};

// The nodes of the machine by part: leaves of a clos, pods of other trees, sites, groups of a
// dragonfly. Other fabrics are one part.
std::vector<std::vector<int>> fabric_parts(const Cluster& machine);

// [pool] whether the job uses any of its nodes; empty: all nodes are alike.
std::vector<bool> pools_in_use(const Cluster& cluster);

// [job][node of the job] -> node of the machine. `stated`: [job] places fixed by the scenario,
// distinct over all jobs; empty: to be chosen. `wanted`: [job][node of the job] the required pool;
// empty: any. Jobs with required pools choose first. Preconditions: `nodes` in total fit on the
// machine, and those of each pool fit beside the stated ones.
std::vector<std::vector<int>> places_of_jobs(const Cluster& machine, JobPlacement placement,
                                             const std::vector<int>& nodes,
                                             std::vector<std::vector<int>> stated,
                                             const std::vector<std::vector<int>>& wanted = {});

}  // namespace windtunnel

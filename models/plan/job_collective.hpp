// How a job's collectives run: as its scenario says for their axis or for their kind, else as costs
// least.
#pragma once

#include <span>

#include "models/network/collectives/collective.hpp"
#include "models/network/groups/group_shape.hpp"
#include "models/plan/job.hpp"

namespace windtunnel {

// That an axis may run.
std::span<const CollectiveKind> kinds_of_axis(Category axis);

// Throws Error at the scenario's place when what it says does not apply to such a group.
CollectiveChoice collective_choice(const Job& job, Category axis, CollectiveKind kind,
                                   const GroupShape& shape);

// collective_cost() by that choice, or by an algorithm that who asks has chosen.
CollectiveCost collective_cost(const Job& job, Category axis, CollectiveKind kind,
                               const GroupShape& shape, double bytes,
                               CollectiveAlgorithm algorithm = CollectiveAlgorithm::automatic);

}  // namespace windtunnel

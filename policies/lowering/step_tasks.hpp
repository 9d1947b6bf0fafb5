// Tasks of an action that is split into steps (action_steps.hpp): pieces of its compute, and
// between them the collectives inside the replica.
#pragma once

#include <span>
#include <vector>

#include "models/plan/plan.hpp"
#include "policies/lowering/action_steps.hpp"
#include "policies/tasks/rank_tasks.hpp"

namespace windtunnel {

// `whole`: the action as a single task. Its cost, `compute`, is divided among the pieces in
// proportion to their computation, and `longer_s` is spread over them. Returns the last piece,
// which follows all blocking collectives. Collectives that are awaited later are added to `later`.
TaskIndex append_steps(const Task& whole, const std::vector<CostPart>& compute, double longer_s,
                       std::span<const ActionStep> steps, RankTasks& tasks,
                       std::vector<TaskIndex>& later);

}  // namespace windtunnel

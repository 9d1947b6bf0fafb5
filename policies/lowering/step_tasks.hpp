// Tasks of an action that is taken apart into steps (action_steps.hpp): its compute in pieces, and
// the collectives inside a replica between them.
#pragma once

#include <span>
#include <vector>

#include "models/plan/plan.hpp"
#include "policies/lowering/action_steps.hpp"
#include "policies/tasks/rank_tasks.hpp"

namespace windtunnel {

// `whole`: the task that the action would be in one piece; of its cost, `compute`, each piece gets
// as much as it computes, and `longer_s` more are spread over them. Returns the last piece, which
// all blocking collectives come before; those that are awaited later are added to `later`.
TaskIndex append_steps(const Task& whole, const std::vector<CostPart>& compute, double longer_s,
                       std::span<const ActionStep> steps, RankTasks& tasks,
                       std::vector<TaskIndex>& later);

}  // namespace windtunnel

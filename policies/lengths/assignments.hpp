// Assignments say who computes which sequences of the batch; these are lowered and evaluated.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "models/plan/job.hpp"
#include "policies/lengths/length_balance.hpp"
#include "policies/lengths/length_costs.hpp"

namespace windtunnel {

// [one of pools_in_use()] what packs cost on its GPUs.
using PoolCosts = std::map<int, LengthCosts>;

struct Assignment {
  std::shared_ptr<const PoolCosts> costs;
  LengthPlan plan;
};

// The only one that LengthPolicy::fixed has.
Assignment fixed_assignment(const Job& job, const std::vector<int>& lengths);

// What a policy that chooses tries, the most promising first: packs as large as memory has room
// for, and where more of them balance the GPUs or fill a pipeline, halves of that, quarters and so
// on. These are unlike. The last one is the fixed assignment, if there is room for it.
std::vector<Assignment> assignments(const Job& job, const std::vector<int>& lengths);

}  // namespace windtunnel

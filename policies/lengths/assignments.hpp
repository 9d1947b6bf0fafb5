// Candidate assignments of a batch's sequences to GPUs, which are then lowered and evaluated.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "models/plan/job.hpp"
#include "policies/lengths/length_balance.hpp"
#include "policies/lengths/length_costs.hpp"

namespace windtunnel {

// [pool in pools_in_use()] cost of packs on its GPUs.
using PoolCosts = std::map<int, LengthCosts>;

struct Assignment {
  std::shared_ptr<const PoolCosts> costs;
  LengthPlan plan;
};

// How many tokens of a pack of LengthPolicy::fixed a GPU has at most.
double fixed_tokens_per_gpu(const Job& job);
// LengthPolicy::fixed allows only this assignment.
Assignment fixed_assignment(const Job& job, const std::vector<int>& lengths);

// The distinct candidates of a policy that chooses, most promising first: packs as large as memory
// allows, and if more packs balance GPUs or fill a pipeline, halves, quarters and so on. The fixed
// assignment comes last, if it fits.
std::vector<Assignment> assignments(const Job& job, const std::vector<int>& lengths);

}  // namespace windtunnel

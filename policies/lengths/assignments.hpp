// Candidate assignments of a batch's sequences to GPUs, which are then lowered and evaluated.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "models/plan/job.hpp"
#include "policies/lengths/length_balance.hpp"
#include "policies/lengths/length_costs.hpp"

namespace windtunnel {

// Costs of packs on the GPUs of each pool in pools_in_use().
using PoolCosts = std::map<int, LengthCosts>;

struct Assignment {
  std::shared_ptr<const PoolCosts> costs;
  LengthPlan plan;
};

// Returns the most tokens that a GPU has of a pack with LengthPolicy::fixed.
double fixed_tokens_per_gpu(const Job& job);
// Returns the only assignment that LengthPolicy::fixed allows.
Assignment fixed_assignment(const Job& job, const std::vector<int>& lengths);

// Returns the distinct candidates of a policy that chooses, most promising first. Their packs are
// as large as memory allows. If more packs balance GPUs or fill a pipeline, there are also packs of
// half that size, a quarter and so on. The fixed assignment comes last, if it fits.
std::vector<Assignment> assignments(const Job& job, const std::vector<int>& lengths);

}  // namespace windtunnel

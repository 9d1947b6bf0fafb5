// An iteration over sequences of unequal length (Job::lengths): which ranks compute which sequences
// (length_balance.hpp). Each GPU has a list of packs instead of micro-batches. Packs are units with
// individual costs, and policies/lowering makes a Plan from them as for any job. The ranks of a
// pack start its passes together.
// Contents of a pack under each policy, and when ranks make empty passes: docs/physics/lengths.md.
#pragma once

#include <memory>
#include <vector>

#include "policies/lengths/assignments.hpp"
#include "policies/lowering/iteration_estimate.hpp"
#include "policies/lowering/prepared_iteration.hpp"

namespace windtunnel {

struct BalancedBatch {
  int gpus = 1;  // of the pool; a tp group counts as one
  LengthPlan plan;
  // Other schedules of the job reuse these if they divide the layers in the same way.
  std::shared_ptr<const PoolCosts> costs;
  std::vector<int> lengths;
  Layout layout;
};

// Throws Error that starts with the key if the job's lengths do not go with its other settings, or
// if the longest sequence does not fit anywhere.
void check_lengths(const Job& job);

// Returns the most tokens of a pack that fit on a GPU; 0: even the training state does not fit.
double tokens_per_gpu(const Job& job);

// Implements policies/iteration.hpp for jobs with unequal lengths. prepare_lengths() requires that
// check_lengths() has passed. A policy that chooses evaluates the iterations of its assignments and
// of the fixed one, and takes the one that ends first. `packs`: as for prepare_iteration().
PreparedIteration prepare_lengths(const Job& job, const SharedPacks& packs = nullptr);
// Whether `prepared` is for a job with as many GPUs in its pool. If not, packs must be assigned
// anew.
bool is_of_pool(const Job& job, const PreparedIteration& prepared);
// Returns the memory of the training state, with LengthPolicy::fixed also of the fullest pack. The
// memory of other packs, and the time of all packs, are known only once they are balanced.
LeastIteration least_lengths(const Job& job);
double lengths_step_s(const Job& job, const PreparedIteration& prepared);
IterationEstimate estimate_lengths(const Job& job, const PreparedIteration& prepared);

}  // namespace windtunnel

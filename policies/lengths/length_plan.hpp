// An iteration over sequences of unequal length (Job::lengths): which ranks compute which of them
// (length_balance.hpp). Each GPU has a list of packs instead of micro-batches; these units have
// individual costs, and policies/lowering makes a Plan from them as for any job. The ranks of a
// pack start its passes together.
//
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
  // What other schedules of the job take over if they divide the layers in the same way.
  std::shared_ptr<const PoolCosts> costs;
  std::vector<int> lengths;
  Layout layout;
};

// Throws Error that starts with the key if the job's lengths do not suit the rest of it, or the
// longest sequence does not fit anywhere.
void check_lengths(const Job& job);

// Largest number of tokens in a pack by a GPU's memory; 0: even the training state does not fit.
double tokens_per_gpu(const Job& job);

// Implements policies/iteration.hpp for such jobs. prepare_lengths() requires check_lengths() to
// have passed. A policy that chooses takes, among its own assignments and the fixed one, the one
// whose iteration, lowered and evaluated, ends first. `packs`: as for prepare_iteration().
PreparedIteration prepare_lengths(const Job& job, const SharedPacks& packs = nullptr);
// Whether `prepared` is for a job with equally many GPUs in its pool; otherwise packs are assigned
// differently.
bool is_of_pool(const Job& job, const PreparedIteration& prepared);
// The training state; with LengthPolicy::fixed also the fullest pack. Other packs, and the time of
// all packs, are known only once they are balanced.
LeastIteration least_lengths(const Job& job);
double lengths_step_s(const Job& job, const PreparedIteration& prepared);
IterationEstimate estimate_lengths(const Job& job, const PreparedIteration& prepared);

}  // namespace windtunnel

// An iteration over sequences of unequal length (Job::lengths): which ranks compute which of them
// (length_balance.hpp). Each GPU has the list of its packs in place of micro-batches, units with
// costs of their own that policies/lowering makes a Plan of as of any job's; the ranks of a pack
// begin its passes together.
//
// What a pack holds under each policy, and when ranks make empty passes: docs/physics/lengths.md.
#pragma once

#include <memory>
#include <vector>

#include "policies/lengths/length_balance.hpp"
#include "policies/lowering/iteration_estimate.hpp"
#include "policies/lowering/prepared_iteration.hpp"

namespace windtunnel {

struct BalancedBatch {
  int gpus = 1;  // of the pool; ranks of tp together count as one
  LengthPlan plan;
};

// Throws Error that starts with the key where the job's lengths do not go with the rest of it, or
// the longest sequence fits nowhere.
void check_lengths(const Job& job);

// Tokens of a pack for which the memory of a GPU has room; 0: not even for the training state.
double tokens_per_gpu(const Job& job);

// The strategy of policies/iteration.hpp for such jobs. prepare_lengths(): of one that
// check_lengths() finds nothing wrong with. A policy that chooses takes of its own assignments and
// the fixed one that whose iteration, lowered and evaluated, ends first.
PreparedIteration prepare_lengths(const Job& job);
// Whether it is of a job with as many GPUs in its pool: otherwise packs go elsewhere.
bool is_of_pool(const Job& job, const PreparedIteration& prepared);
// The training state alone: what packs add, and how long they take, only their balance says.
LeastIteration least_lengths(const Job& job);
double lengths_step_s(const Job& job, const PreparedIteration& prepared);
IterationEstimate estimate_lengths(const Job& job, const PreparedIteration& prepared);

}  // namespace windtunnel

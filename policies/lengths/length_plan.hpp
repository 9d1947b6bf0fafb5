// An iteration over sequences of unequal length (Job::lengths): which ranks compute which of them
// (length_balance.hpp), and the Plan of that. Each rank has the list of its packs in place of
// micro-batches, and the ranks of a pack begin its forward pass together. Gathers, reductions, the
// optimizer and snapshots are those of any job (pipeline_rank.hpp).
//
// What a pack holds under each policy, and when ranks make empty passes: docs/lengths.md.
#pragma once

#include <memory>
#include <vector>

#include "policies/lengths/length_balance.hpp"
#include "policies/lowering/iteration_estimate.hpp"
#include "policies/lowering/iteration_plan.hpp"

namespace windtunnel {

struct BalancedBatch {
  int gpus = 1;  // of the pool; ranks of tp together count as one
  LengthPlan plan;
  std::vector<std::vector<ChunkCost>> costs;  // [round][pack], on one GPU
  ChunkCost idle;                             // a pack without sequences
};

// Throws Error that starts with the key where the job's lengths do not go with the rest of it, or
// the longest sequence fits nowhere.
void check_lengths(const Job& job);

// Tokens of a pack for which the memory of a GPU has room; 0: not even for the training state.
double tokens_per_gpu(const Job& job);

// The strategy of policies/iteration.hpp for such jobs. prepare_lengths(): of one that
// check_lengths() finds nothing wrong with.
PreparedIteration prepare_lengths(const Job& job);
// The training state alone: what packs add, and how long they take, only their balance says.
LeastIteration least_lengths(const Job& job);
Plan plan_lengths(const Job& job, const PreparedIteration& prepared,
                  const IterationPlanOptions& options);
IterationEstimate estimate_lengths(const Job& job, const PreparedIteration& prepared);

}  // namespace windtunnel

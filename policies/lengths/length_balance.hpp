// Assigns the sequences of a global batch to GPUs when their lengths differ, by
// layout.length_policy: one degree of context parallelism for all (fixed), groups of different
// degrees in each micro-batch (FlexSP: Wang et al. 2024, arXiv 2412.01523), or as many GPUs for
// each sequence as it needs (hdp; ByteScale: Ge et al. 2025, arXiv 2502.21231). How each policy
// packs and distributes, and how it differs from its paper: docs/physics/lengths.md.
#pragma once

#include <vector>

#include "models/workload/sequence_lengths.hpp"
#include "policies/lengths/length_costs.hpp"

namespace windtunnel {

// Sequences that a group of GPUs computes together.
struct LengthPack {
  std::size_t degree = 0;  // index into LengthCosts::degrees()
  int first = 0;           // first of its `ranks` consecutive GPUs
  int ranks = 1;
  std::vector<int> sequences;  // indices into the batch
  double tokens = 0;
  AttentionSeconds attention;
  double seconds = 0;
};

// Every GPU computes its packs in order.
struct LengthPlan {
  // flexsp: rounds run one after the other; other policies: a single round
  std::vector<std::vector<LengthPack>> rounds;
  double seconds = 0;
};

// Returns promising assignments. `longest`: the maximum length, which fixed needs. Throws Error if
// a sequence does not fit on all GPUs together.
std::vector<LengthPlan> length_plans(LengthPolicy policy, const std::vector<int>& lengths,
                                     double longest, const LengthCosts& costs);
// Returns the one of length_plans() with the smallest LengthPlan::seconds.
LengthPlan balance_lengths(LengthPolicy policy, const std::vector<int>& lengths, double longest,
                           const LengthCosts& costs);

}  // namespace windtunnel

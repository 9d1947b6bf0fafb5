// Which part of the training state a rank holds where shares are uneven (Layout::state_of_pool), as
// Cephalo assigns it apart from the sequences (Guo et al. 2024, arXiv 2411.01075), and what that
// asks of the collectives.
//
// Shards of unlike size are gathered by one broadcast from each rank and scattered by one reduction
// to each, grouped: so PyTorch lowers them onto NCCL, which has no all-gather of unlike parts
// (NVIDIA/nccl issue 773, pytorch issue 198344). Each broadcast goes round a ring in pieces, so a
// link carries all shards but that of the rank behind it, and the busiest all but the smallest:
// (1 - f) S of a buffer S, f the smallest share, in place of (n - 1) / n S.
#pragma once

#include <vector>

#include "models/plan/job.hpp"

namespace windtunnel {

inline bool uneven_state(const Job& job) {
  return !job.layout.state_of_pool.empty();
}

// [pool] ranks of a pipeline rank that stand on it.
std::vector<int> ranks_by_pool(const Job& job, int pp);

// What a rank of the pipeline rank holds over the mean, on nodes of the pool; and the most of any
// pool that it stands on. 1: shares are even.
double state_factor(const Job& job, int pp, int pool);
double largest_state_factor(const Job& job, int pp);

// Bytes of an even collective that takes a ring as long as the uneven one, over those of that one;
// 1: shares are even.
double uneven_ring_factor(const Job& job, int pp);

}  // namespace windtunnel

// Which part of the training state a rank holds when shares are uneven (Layout::state_of_pool), and
// what uneven shares cost in collectives. Cephalo assigns state apart from sequences in this way
// (Guo et al. 2024, arXiv 2411.01075).
//
// PyTorch gathers shards of unequal size by one grouped broadcast from each rank, and scatters them
// by one reduction to each, because NCCL has no all-gather of unequal parts (NVIDIA/nccl issue 773,
// pytorch issue 198344). Each broadcast goes round a ring in pieces, so a link carries all shards
// but that of the rank behind it. With a buffer of S bytes and the smallest share f the busiest
// link carries (1 - f) S instead of (n - 1) / n S.
#pragma once

#include <vector>

#include "models/plan/job.hpp"

namespace windtunnel {

inline bool uneven_state(const Job& job) {
  return !job.layout.state_of_pool.empty();
}

// [pool] -> how many ranks of the pipeline rank `pp` are on it.
std::vector<int> ranks_by_pool(const Job& job, int pp);

// Training state of a rank of the pipeline rank `pp` on nodes of the pool, divided by the mean over
// ranks; and the largest such value over the pools in use. 1: shares are even.
double state_factor(const Job& job, int pp, int pool);
double largest_state_factor(const Job& job, int pp);

// By which factor the bytes of an even collective are to be multiplied so that its ring takes as
// long as that of the uneven one. 1: shares are even.
double uneven_ring_factor(const Job& job, int pp);

}  // namespace windtunnel

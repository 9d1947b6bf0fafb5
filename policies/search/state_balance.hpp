// Shares of the training state by pool (Layout::state_of_pool) with which every rank has room for
// its part: small GPUs hold less. Cephalo (Guo et al. 2024, arXiv 2411.01075) divides the state in
// this way, independently of the sequences that a GPU computes.
#pragma once

#include <span>
#include <vector>

#include "models/plan/job.hpp"

namespace windtunnel {

// Returns the share of each pool's ranks relative to the mean, from `least` to the pool's `most`.
// The shares are chosen so that the optimizer, which takes `unit_s` for a mean share, ends
// earliest. `ranks` of each pool have the mean share on average. Preconditions: `least` is at most
// 1 and nowhere above `most`, and the total of `most` suffices.
std::vector<double> shares_above(double least, std::span<const int> ranks,
                                 std::span<const double> unit_s, std::span<const double> most);

// Returns the shares of each pool for a job that has passed all checks, whatever shares the job
// has. Among the shares that fit in memory it takes those with the shortest step in closed form,
// and prefers even ones; empty: even. If none fit, they are proportional to the room. Throws Error
// if pipeline ranks mix pools in different proportions.
std::vector<double> balanced_state(const Job& job);

}  // namespace windtunnel

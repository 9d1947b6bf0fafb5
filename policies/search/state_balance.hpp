// Shares of the training state by pool (Layout::state_of_pool) so that every rank has room for its
// own: small GPUs hold less. Cephalo (Guo et al. 2024, arXiv 2411.01075) assigns them so, whatever
// the sequences that a GPU computes.
#pragma once

#include <span>
#include <vector>

#include "models/plan/job.hpp"

namespace windtunnel {

// What a rank of each pool may hold over the mean, where `most` is what it has room for: at least
// `least` each, and so that the optimizer ends soonest, which takes `unit_s` of a mean share.
// `ranks` of them have together what they have on average. `least` is at most 1 and of no pool
// above `most`, and `most` of all is enough.
std::vector<double> shares_above(double least, std::span<const int> ranks,
                                 std::span<const double> unit_s, std::span<const double> most);

// [pool] Of a job that has passed all checks; its own shares are not read. Of the shares that fit
// in memory those of the shortest step in closed form, even ones before others; empty: even. Where
// none fit, in proportion to the room. Throws Error where pipeline ranks mix pools in unlike
// proportions.
std::vector<double> balanced_state(const Job& job);

}  // namespace windtunnel

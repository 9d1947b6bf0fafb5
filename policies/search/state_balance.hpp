// Shares of the training state by pool (Layout::state_of_pool) so that every rank has room for its
// own: small GPUs hold less. Cephalo (Guo et al. 2024, arXiv 2411.01075) assigns them in this way,
// independently of the sequences that a GPU computes.
#pragma once

#include <span>
#include <vector>

#include "models/plan/job.hpp"

namespace windtunnel {

// Share of each pool's ranks relative to the mean, given room for `most`: at least `least` each,
// chosen so that the optimizer, which takes `unit_s` for a mean share, ends earliest. `ranks` of
// each pool have the mean share on average. Preconditions: `least` is at most 1 and nowhere above
// `most`, and the total of `most` suffices.
std::vector<double> shares_above(double least, std::span<const int> ranks,
                                 std::span<const double> unit_s, std::span<const double> most);

// [pool] For a job that has passed all checks; its own shares are ignored. Among shares that fit in
// memory those with the shortest step in closed form, preferring even ones; empty: even. If none
// fit, in proportion to the room. Throws Error if pipeline ranks mix pools in different
// proportions.
std::vector<double> balanced_state(const Job& job);

}  // namespace windtunnel

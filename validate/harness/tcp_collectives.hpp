// Collectives between the processes of a TcpGroup by the algorithms that the simulator has
// (models/collective_steps.hpp): rings in 2 (P-1) or P-1 steps of a P-th each, a tree up and down,
// pairwise exchange in P-1 steps.
#pragma once

#include <span>

#include "validate/harness/tcp_group.hpp"

namespace windtunnel {

// Sums, in place, of as many elements on every rank. The order of the additions differs by element,
// but every rank ends with the same bits.
void all_reduce_ring(TcpGroup& group, std::span<float> values);
void all_reduce_tree(TcpGroup& group, std::span<float> values);  // binary

// Element range of a rank's part.
struct Part {
  size_t begin = 0;
  size_t end = 0;
};
Part part_of(size_t elements, int rank, int ranks);

// The rank's part of `values` holds the sum, the rest is undefined.
void reduce_scatter_ring(TcpGroup& group, std::span<float> values);
// Every rank's part goes to all.
void all_gather_ring(TcpGroup& group, std::span<float> values);
// Part j of rank i becomes part i of rank j.
void all_to_all_pairwise(TcpGroup& group, std::span<const float> out, std::span<float> in);

}  // namespace windtunnel

// Double binary tree (Sanders et al. 2009): two trees over the same nodes, each carrying half of
// the data, built so that (nearly) every inner node of one is a leaf of the other.
#pragma once

#include <cstddef>

namespace windtunnel {

// Parent in the first, in-order tree over 0..n-1 with root 0 (odd indices are its leaves).
inline std::size_t tree_parent(std::size_t node, std::size_t n) {
  const std::size_t bit = node & (~node + 1);
  const std::size_t above = (node ^ bit) | (bit << 1);
  return above < n ? above : node ^ bit;
}

// The node in whose place a node stands in the second tree, which makes leaves of the first one's
// inner nodes: mirrored for an even number of nodes, shifted by one for an odd number.
inline std::size_t tree_twin(std::size_t node, std::size_t n) {
  return n % 2 == 0 ? n - 1 - node : (node + 1) % n;
}

}  // namespace windtunnel

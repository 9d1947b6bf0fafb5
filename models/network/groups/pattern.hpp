// The edges of a communication pattern among n places (members of a node, or nodes of a group):
// which place sends to which, and the share of bytes at the busiest place. Both forms of a
// collective (collective.hpp) and the load on a fabric use these definitions.
//
// Double trees: Sanders et al. 2009. Doubling and halving: Thakur et al. 2005; if n is no power of
// two, one place of each of the first pairs sends everything to the other, sits out, and receives
// the result. Shifts: NCCL's PAT, a binomial tree per place whose far edges come first and carry
// the fewest blocks.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace windtunnel {

enum class Pattern : std::uint8_t {
  none,
  ring,         // each place to the next, the last to the first
  chain,        // from the first to the last
  back_chain,   // from the last to the first
  double_tree,  // half of the bytes on every edge of either tree, both ways
  pairs,        // from each place to every other one
  to_first,
  doubling,  // each swaps all its bytes with the place at distance 1, then 2, 4, ...
  halving,   // as doubling, but with half of the bytes, then a quarter, ...
  shifts,    // each sends to the place 1, 2, 4, ... after it; fewer blocks go farther
  torus,     // rings both ways along each dimension of a box: edges are given by torus_box.hpp
};

// Parent in the first of two trees over the same nodes, an in-order tree over 0..n-1 with root 0
// (odd indices are its leaves). Each tree carries half of the data, and (nearly) every inner node
// of one is a leaf of the other (double binary tree: Sanders et al. 2009).
inline std::size_t tree_parent(std::size_t node, std::size_t n) {
  const std::size_t bit = node & (~node + 1);
  const std::size_t above = (node ^ bit) | (bit << 1);
  return above < n ? above : node ^ bit;
}

// The place that a node takes in the second tree, where inner nodes of the first are leaves:
// mirrored for an even number of nodes, shifted by one for an odd number.
inline std::size_t tree_twin(std::size_t node, std::size_t n) {
  return n % 2 == 0 ? n - 1 - node : (node + 1) % n;
}

// Calls add(from, to, share of the pattern's bytes).
template <class Add>
void for_each_edge(Pattern pattern, std::size_t n, const Add& add) {
  if (n <= 1) return;
  const bool exchanges = pattern == Pattern::doubling || pattern == Pattern::halving;
  const std::size_t active = std::bit_floor(n);
  const std::size_t folded = n - active;
  const auto active_place = [&](std::size_t i) { return i < folded ? 2 * i + 1 : i + folded; };
  if (exchanges) {
    const double share = pattern == Pattern::halving ? 0.5 : 1;
    for (std::size_t i = 0; i < folded; ++i) {
      add(2 * i, 2 * i + 1, share);
      add(2 * i + 1, 2 * i, share);
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    switch (pattern) {
      case Pattern::none:
      case Pattern::torus:
        break;
      case Pattern::ring:
        add(i, (i + 1) % n, 1.0);
        break;
      case Pattern::chain:
        if (i + 1 < n) add(i, i + 1, 1.0);
        break;
      case Pattern::back_chain:
        if (i + 1 < n) add(i + 1, i, 1.0);
        break;
      case Pattern::double_tree: {
        if (i == 0) break;
        const std::size_t parent = tree_parent(i, n);
        add(i, parent, 0.5);
        add(parent, i, 0.5);
        add(tree_twin(i, n), tree_twin(parent, n), 0.5);
        add(tree_twin(parent, n), tree_twin(i, n), 0.5);
        break;
      }
      case Pattern::pairs:
        for (std::size_t j = 0; j < n; ++j) {
          if (i != j) add(i, j, 1.0);
        }
        break;
      case Pattern::to_first:
        if (i > 0) add(i, std::size_t{0}, 1.0);
        break;
      case Pattern::doubling:
      case Pattern::halving:
        for (std::size_t far = 1; far < active && i < active; far *= 2) {
          const double share = pattern == Pattern::halving ? 0.5 / static_cast<double>(far) : 1;
          add(active_place(i), active_place(i ^ far), share);
        }
        break;
      case Pattern::shifts:
        for (std::size_t far = 1; far < n; far *= 2) {
          const std::size_t blocks = ((n - 1) / far + 1) / 2;
          add(i, (i + far) % n, static_cast<double>(blocks) / static_cast<double>(n));
        }
        break;
    }
  }
}

// Bytes sent or received by the busiest place, whichever is more, per byte of the pattern. O(1).
inline double port_share(Pattern pattern, int n) {
  if (n <= 1) return 0;
  const auto active = static_cast<int>(std::bit_floor(static_cast<unsigned>(n)));
  const bool folds = active < n;
  switch (pattern) {
    case Pattern::none:
      return 0;
    case Pattern::ring:
    case Pattern::chain:
    case Pattern::back_chain:
    case Pattern::torus:
      return 1;
    case Pattern::double_tree:
      // An inner node of one tree is a leaf of the other, so it has three edges and one, in both
      // directions; with two or three nodes the busiest node has two or three edges.
      return std::min(n, 4) / 2.0;
    case Pattern::pairs:
    case Pattern::to_first:
      return n - 1;
    case Pattern::doubling:
      return std::bit_width(static_cast<unsigned>(active)) - 1 + (folds ? 1 : 0);
    case Pattern::halving:
      return 1 - 1.0 / active + (folds ? 0.5 : 0);
    case Pattern::shifts:
      return (n - 1.0) / n;
  }
  return 0;
}

// Bytes that all places send together, per byte of the pattern.
inline double total_share(Pattern pattern, int n) {
  if (n <= 1) return 0;
  const auto active = static_cast<int>(std::bit_floor(static_cast<unsigned>(n)));
  const double all = port_share(pattern, n);
  switch (pattern) {
    case Pattern::chain:
    case Pattern::back_chain:
    case Pattern::to_first:
      return n - 1;
    case Pattern::double_tree:
      return 2.0 * (n - 1);
    case Pattern::doubling:
      return active * (std::bit_width(static_cast<unsigned>(active)) - 1) + 2.0 * (n - active);
    case Pattern::halving:
      return active - 1.0 + (n - active);
    default:
      return n * all;
  }
}

}  // namespace windtunnel

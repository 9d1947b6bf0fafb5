// Divides one micro-batch of unequal sequences among groups of GPUs: which groups, and which group
// computes which sequence, so that the slowest ends early.
#pragma once

#include <limits>
#include <vector>

#include "policies/lengths/length_costs.hpp"

namespace windtunnel {

// Sequence lengths with their cost at each degree, longest first.
struct Lengths {
  const std::vector<int>& lengths;
  const LengthCosts& costs;
  std::vector<std::vector<AttentionSeconds>> attention;  // [degree][sequence]
  std::vector<int> order;

  Lengths(const std::vector<int>& all, const LengthCosts& with);
};

struct SequenceGroup {
  std::size_t degree = 0;
  std::vector<int> sequences;
};

struct SharedRound {
  // infinite, without groups: the sequences do not fit
  double seconds = std::numeric_limits<double>::infinity();
  std::vector<SequenceGroup> groups;  // widest first
};

// `sequences`: longest first.
SharedRound share_round(const Lengths& batch, const std::vector<int>& sequences);

}  // namespace windtunnel

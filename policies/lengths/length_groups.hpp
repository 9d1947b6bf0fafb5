// Divides a micro-batch of unequal sequences among groups of GPUs: chooses the groups, and the
// group that computes each sequence, so that the slowest group ends early.
#pragma once

#include <limits>
#include <vector>

#include "policies/lengths/length_costs.hpp"

namespace windtunnel {

// Sequence lengths with their attention time at each degree. `order` has the longest first.
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
  // infinite, without groups, if the sequences do not fit
  double seconds = std::numeric_limits<double>::infinity();
  std::vector<SequenceGroup> groups;  // widest first
};

// `sequences` must have the longest first.
SharedRound share_round(const Lengths& batch, const std::vector<int>& sequences);

}  // namespace windtunnel

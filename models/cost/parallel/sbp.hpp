// How a tensor is distributed over a group of ranks, and the cost of redistributing it: OneFlow's
// signatures split, broadcast, partial-value (Yuan et al. 2021, arXiv 2110.15032, section 3.1 with
// its tables of matrix products and boxing costs). The tensor parallelism of a layer is a chain of
// products and such transitions: models/cost/parallel/tensor_parallel.cpp.
#pragma once

#include <optional>

#include "models/network/groups/collective_choice.hpp"

namespace windtunnel {

enum class Spread {
  split,      // along an axis, a part on each rank
  broadcast,  // whole on every rank
  partial,    // full-size addends on every rank; the tensor is their sum
};

struct Signature {
  Spread spread = Spread::broadcast;
  int axis = 0;  // of a split
  bool operator==(const Signature&) const = default;
};

constexpr Signature split_along(int axis) {
  return {Spread::split, axis};
}
inline constexpr Signature kBroadcast = {Spread::broadcast, 0};
inline constexpr Signature kPartial = {Spread::partial, 0};

// A transition leads from one signature to another on the same ranks.
struct Transition {
  std::optional<CollectiveKind> collective;  // none: every rank already has what it needs
  double bytes = 0;        // of the collective, in the convention of collective_cost()
  double moved_bytes = 0;  // received by all ranks together
};

// A tensor of `bytes` on `members` ranks. Throws Error for a negative axis.
Transition transition(const Signature& from, const Signature& to, double bytes, int members);

}  // namespace windtunnel

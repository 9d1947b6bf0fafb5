// How a tensor lies on a group of ranks, and what it costs to lie differently: OneFlow's signatures
// split, broadcast, partial-value (Yuan et al. 2021, arXiv 2110.15032, section 3.1 and its tables
// of matrix products and of boxing costs). The tensor parallelism of a layer is a chain of products
// and such transitions: models/cost/parallel/tensor_parallel.cpp.
#pragma once

#include <optional>

#include "models/network/groups/collective_choice.hpp"

namespace windtunnel {

enum class Spread {
  split,      // along an axis, a part on each rank
  broadcast,  // whole on every rank
  partial,    // as large as the whole on every rank; the tensor is their sum
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

// From one signature to another among the same ranks.
struct Transition {
  std::optional<CollectiveKind> collective;  // none: every rank has what it needs
  double bytes = 0;                          // of the collective, as collective_cost() counts them
  double moved_bytes = 0;                    // received by all ranks together
};

// A tensor of `bytes` on `members` ranks. Throws Error for a negative axis.
Transition transition(const Signature& from, const Signature& to, double bytes, int members);

}  // namespace windtunnel

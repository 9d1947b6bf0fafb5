// Colour refinement (Weisfeiler-Leman, dimension 1) on the graph of ranks, groups, flows and links:
// elements with the same colour must behave identically (fold.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/machine/cluster.hpp"
#include "models/plan/plan.hpp"
#include "sim/engine/flow_table.hpp"

namespace windtunnel {

using Colour = std::uint64_t;

// SplitMix64's finaliser (Steele, Lea, Flood, OOPSLA'14) maps 64 bits one to one and spreads every
// input bit over the result.
inline Colour mix_colour(Colour x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// Numbers distinct values by first occurrence. The table is open-addressed and grows from a small
// size: millions of colours are counted several times, but if folding works well only few are
// distinct, so it remains in the cache.
class Numbering {
 public:
  std::int32_t number(Colour colour) {
    Slot& slot = slot_of(colour);
    if (slot.number >= 0) return slot.number;
    slot = {colour, count_++};
    if (2 * static_cast<size_t>(count_) > slots_.size()) grow();
    return count_ - 1;
  }
  std::int32_t count() const { return count_; }

 private:
  struct Slot {
    Colour colour = 0;
    std::int32_t number = -1;
  };

  // Returns the colour's slot, or the free slot that it would take.
  Slot& slot_of(Colour colour) {
    const size_t mask = slots_.size() - 1;
    size_t i = mix_colour(colour) & mask;
    while (slots_[i].number >= 0 && slots_[i].colour != colour) i = (i + 1) & mask;
    return slots_[i];
  }

  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.number >= 0) slot_of(slot.colour) = slot;
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(1024);  // a power of two
  std::int32_t count_ = 0;
};

struct Colours {
  std::vector<Colour> ranks;
  std::vector<Colour> groups;  // of the Plan
  std::vector<Colour> links;   // of the FlowTable
  std::vector<Colour> flows;
};

std::int64_t distinct(const std::vector<Colour>& colours);

// Whether paths that routing chose (FlowTable::chosen) distinguish flows.
enum class ChosenWays { tell_apart, ignored };

Colours refined_colours(const Plan& plan, const Cluster& cluster, const FlowTable& flows,
                        ChosenWays ways);

}  // namespace windtunnel

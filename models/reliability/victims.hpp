// Which nodes a failure hits. A slot is a place in the job (0 .. slots-1, as the placement of ranks
// numbers them); who stands in it changes with spares and repairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/base/random.hpp"
#include "models/reliability/failure_process.hpp"

namespace windtunnel {

// The hazard of one node relative to the mean of all: drawn once from the gamma distribution of
// mean 1 and the class's frailty_variance; 1 where that is 0. Depends on (seed, index, node) alone.
double node_hazard(const FailureClass& failure_class, std::uint64_t seed, std::uint64_t index,
                   int node);

// Draws which node a failure hits. Takes O(1) memory and time where all nodes are alike and all
// slots are taken, else O(log slots) a call.
class Victims {
 public:
  // Slot i starts with node i. `failure_class` must outlive it; seed and index as in ArrivalStream.
  Victims(const FailureClass& failure_class, int slots, std::uint64_t seed, std::uint64_t index);

  // Another node stands there now; hazard 0: the slot is empty.
  void set_hazard(int slot, double hazard);
  // What fails now relative to `slots` mean nodes: the speed of the class's ArrivalStream. The rate
  // of the job beside its nodes stays.
  double speed() const;
  // The slots that the next failure hits, each once; empty when no slot is taken. A batch's further
  // slots are the next taken ones above the first, then below it (batch_adjacent), or drawn like
  // the first.
  void draw(std::vector<int>& hit);
  // Draws `count` slots, or all that hold a node.
  void draw_any(std::size_t count, std::vector<int>& hit);

 private:
  bool all_alike() const { return tree_.empty(); }
  double hazard(int slot) const { return all_alike() ? 1 : tree_[leaves_ + slot]; }
  int one();
  void take_neighbours(std::size_t size, std::vector<int>& hit) const;
  void take_any(std::size_t size, std::vector<int>& hit);
  void make_tree();
  void add_up();
  void put(int slot, double hazard);

  const FailureClass* class_;
  int slots_;
  RandomStream victim_random_;
  RandomStream batch_random_;
  double nodes_share_;  // of the class's rate, that nodes' hazards change
  // Sums of hazards: node i holds the sum of 2 i and 2 i + 1, the root is 1, slot s is leaf leaves_
  // + s. Each is recomputed from its children rather than updated, so it depends on the hazards
  // alone and is 0 exactly where all slots are empty. Empty while all hazards are 1.
  std::vector<double> tree_;
  std::size_t leaves_ = 0;
};

}  // namespace windtunnel

// Which nodes a failure hits. A slot is a position in the job (0 .. slots-1, numbered like the
// placement of ranks); the node in it changes with spares and repairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/base/random.hpp"
#include "models/reliability/failure_process.hpp"

namespace windtunnel {

// The hazard of a node relative to the mean: drawn once from the gamma distribution of mean 1 and
// the class's frailty_variance; 1 if that is 0. Depends only on (seed, index, node).
double node_hazard(const FailureClass& failure_class, std::uint64_t seed, std::uint64_t index,
                   int node);

// Draws which node a failure hits. O(1) memory and time if all nodes are alike and all slots are
// occupied, otherwise O(log slots) per call.
class Victims {
 public:
  // Slot i starts with node i. `failure_class` must outlive it; seed and index as in ArrivalStream.
  Victims(const FailureClass& failure_class, int slots, std::uint64_t seed, std::uint64_t index);

  // Tells that another node occupies the slot now; hazard 0: the slot is empty.
  void set_hazard(int slot, double hazard);
  // The current hazard relative to `slots` average nodes: the speed of the class's ArrivalStream.
  // The part of the rate that does not depend on nodes is constant.
  double speed() const;
  // The slots that the next failure hits, each once; empty if all slots are empty. A batch's
  // further slots are the next occupied ones above the first, then below it (batch_adjacent), or
  // drawn like the first.
  void draw(std::vector<int>& hit);
  // Draws `count` occupied slots, or all if there are fewer.
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
  double nodes_share_;  // part of the class's rate that depends on nodes' hazards
  // Sums of hazards as a binary tree: node i holds the sum of 2 i and 2 i + 1, the root is 1, slot
  // s is leaf leaves_ + s. Each sum is recomputed from its children rather than updated, so it
  // depends only on the hazards and is exactly 0 if all slots are empty. Unused while all hazards
  // are 1.
  std::vector<double> tree_;
  std::size_t leaves_ = 0;
};

}  // namespace windtunnel

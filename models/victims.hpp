// Which nodes a failure hits. A slot is a place in the job (0 .. slots-1, as the placement of ranks
// numbers them); who stands in it changes with spares and repairs.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/random.hpp"
#include "models/failure_process.hpp"

namespace windtunnel {

// The hazard of one node relative to the mean of all: drawn once from the gamma distribution of
// mean 1 and the class's frailty_variance; 1 where that is 0. Depends on (seed, index, node) alone.
double node_hazard(const FailureClass& failure_class, std::uint64_t seed, std::uint64_t index,
                   int node);

// O(1) memory and time where all nodes are alike and all slots taken; else O(log slots) per call.
class Victims {
 public:
  // Slot i starts with node i. `failure_class` must outlive it; seed and index as in ArrivalStream.
  Victims(const FailureClass& failure_class, int slots, std::uint64_t seed, std::uint64_t index);

  // Somebody else stands there now; 0: nobody.
  void set_hazard(int slot, double hazard);
  // Hazard of all slots relative to `slots` mean nodes: the speed of the class's ArrivalStream.
  double speed() const;
  // The slots that the next failure hits, each once; empty when no slot is taken. A batch's further
  // slots are neighbours of the first (batch_adjacent) or drawn like it.
  void draw(std::vector<int>& hit);

 private:
  int one();
  void make_tree();

  const FailureClass* class_;
  int slots_;
  RandomStream victim_random_;
  RandomStream batch_random_;
  // Fenwick tree of hazards; empty while all are 1.
  std::vector<double> tree_;
  std::vector<double> hazard_;
  double sum_ = 0;
};

}  // namespace windtunnel

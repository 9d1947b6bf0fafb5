// SR-SGC (Krishnan, Ebrahimi, Khisti 2023, arXiv 2211.13802, section 3.1): each round is a gradient
// code that tolerates s stragglers. Where more straggled, the surplus workers repeat their task B
// rounds later in place of the new one, and the master then waits for them, because the gradient is
// due. It need wait for no other worker.
#pragma once

#include <span>
#include <vector>

#include "models/reliability/stragglers/redundancy.hpp"

namespace windtunnel {

class SelectiveRepeat {
 public:
  SelectiveRepeat(int workers, const Redundancy& redundancy);

  // When a round ends that would end at `deadline`, if workers take these times.
  double close(std::span<const double> times, double deadline);

 private:
  std::size_t coded_;                      // s
  std::size_t now_ = 0;                    // the round
  std::vector<std::vector<int>> lacking_;  // [round mod B] workers without a result of its own
  std::vector<char> repeats_;              // [worker] in this round
};

}  // namespace windtunnel

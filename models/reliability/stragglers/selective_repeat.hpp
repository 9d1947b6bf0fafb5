// SR-SGC (Krishnan, Ebrahimi, Khisti 2023, arXiv 2211.13802, section 3.1): each round is a gradient
// code that makes up for s stragglers. Where more straggled, so many of them as are too many repeat
// their task B rounds later in place of the new one, and the master waits for them then: the
// gradient is due. It need wait for nobody else.
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

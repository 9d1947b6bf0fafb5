// SR-SGC (Krishnan, Ebrahimi, Khisti 2023, arXiv 2211.13802, section 3.1): each round is a gradient
// code that tolerates s stragglers. If more straggle, the surplus workers repeat their task B
// rounds later instead of the new one. The master must then wait for these, because the gradient is
// due, and for no other worker.
#pragma once

#include <span>
#include <vector>

#include "models/reliability/stragglers/redundancy.hpp"

namespace windtunnel {

class SelectiveRepeat {
 public:
  SelectiveRepeat(int workers, const Redundancy& redundancy);

  // The end of a round that would end at `deadline`, given the workers' times.
  double close(std::span<const double> times, double deadline);

 private:
  std::size_t coded_;                      // s
  std::size_t now_ = 0;                    // the round
  std::vector<std::vector<int>> lacking_;  // [round mod B] workers whose own result is missing
  std::vector<char> repeats_;              // [worker] whether it repeats in this round
};

}  // namespace windtunnel

// Local search on orders: one chain of small changes. An improvement is kept. A slightly worse
// order is kept less and less often (simulated annealing, Kirkpatrick et al. 1983).
#pragma once

#include <cstdint>
#include <functional>

#include "policies/search/split_order.hpp"

namespace windtunnel {

struct ClimbOptions {
  bool makespan = false;  // minimises the makespan; false: the longest stage
  int steps = 0;
  double good_enough_s = 0;  // the search ends when the objective reaches this
  std::uint64_t seed = 1;
  std::uint64_t chain = 0;          // chains of one seed are independent
  std::function<bool()> stop = {};  // asked now and then
};

struct ClimbResult {
  SplitOrder order;
  FilledResult filled;
  int steps = 0;  // number of steps taken
};

// `start` must be feasible.
ClimbResult climb(const ScheduleRequest& request, const SplitOrder& start,
                  const ClimbOptions& options);

}  // namespace windtunnel

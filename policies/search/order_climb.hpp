// Local search on orders: one chain of small changes, of which those that help stay and, less and
// less often, those that hurt a little (simulated annealing, Kirkpatrick et al. 1983).
#pragma once

#include <cstdint>
#include <functional>

#include "policies/search/split_order.hpp"

namespace windtunnel {

struct ClimbOptions {
  bool makespan = false;  // else the longest stage
  int steps = 0;
  double good_enough_s = 0;  // ends there
  std::uint64_t seed = 1;
  std::uint64_t chain = 0;          // chains of one seed are independent
  std::function<bool()> stop = {};  // asked now and then
};

struct ClimbResult {
  SplitOrder order;
  FilledResult filled;
  int steps = 0;  // taken
};

// `start` must be possible.
ClimbResult climb(const ScheduleRequest& request, const SplitOrder& start,
                  const ClimbOptions& options);

}  // namespace windtunnel

// The range of saving intervals of a tier that are as good as the best one. `run` and `optimise`
// use this search.
#pragma once

#include <functional>
#include <vector>

#include "sim/study/paired_trials.hpp"

namespace windtunnel {

struct AsGoodSearch {
  double least_s = 0;         // the shortest interval that the tier can keep
  double most_s = 0;          // the longest one worth trying; >= least_s
  std::vector<double> tried;  // intervals already simulated, ascending, at least one
  // Returns the campaign with this interval and the same failures. The reference must remain valid.
  std::function<const PairedCampaign&(double every_s)> campaign_at;
};

// All three intervals have been simulated.
struct AsGoodRange {
  double best_s = 0;  // the interval with the most goodput of all that were simulated
  // Shortest and longest interval that is as good (is_as_good()), each to within 5 %.
  double shortest_s = 0;
  double longest_s = 0;
};

// Searches outwards from the best interval: first over simulated intervals, then beyond them by
// doubling (or halving), then by bisection to the first that is not as good. If it finds a better
// one, it begins again.
AsGoodRange as_good_range(const AsGoodSearch& search);

}  // namespace windtunnel

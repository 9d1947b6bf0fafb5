// The range of saving intervals of a tier that are as good as the best: the search that `run` and
// `optimise` use.
#pragma once

#include <functional>
#include <vector>

#include "sim/study/paired_trials.hpp"

namespace windtunnel {

struct AsGoodSearch {
  double least_s = 0;         // the shortest that the tier can keep
  double most_s = 0;          // the longest worth trying; >= least_s
  std::vector<double> tried;  // already simulated, ascending, at least one
  // With the same failures. The returned reference must stay valid.
  std::function<const PairedCampaign&(double every_s)> campaign_at;
};

// All three intervals were simulated.
struct AsGoodRange {
  double best_s = 0;  // the most goodput of all simulated intervals
  // Shortest and longest that are as good (is_as_good()), each within 5 %.
  double shortest_s = 0;
  double longest_s = 0;
};

// Searches outwards from the best: over simulated intervals, beyond them by doubling, then by
// bisection to the first that is not as good; repeated if a better one is found.
AsGoodRange as_good_range(const AsGoodSearch& search);

}  // namespace windtunnel

// Between which intervals it does not matter how often a tier saves: the one search of `run` and
// `optimise`.
#pragma once

#include <functional>
#include <vector>

#include "sim/study/paired_trials.hpp"

namespace windtunnel {

struct AsGoodSearch {
  double least_s = 0;         // that the tier can keep to
  double most_s = 0;          // worth asking; at least that
  std::vector<double> tried;  // ascending; one at least: simulated already
  // With the same failures. What it refers to stays as it is.
  std::function<const PairedCampaign&(double every_s)> campaign_at;
};

// All three were simulated.
struct AsGoodRange {
  double best_s = 0;  // the most goodput of what was tried, here or before
  // The shortest and the longest that is as good (is_as_good()), each within 5 %.
  double shortest_s = 0;
  double longest_s = 0;
};

// From the best outwards over those that were tried, beyond them by doubling, then by halving the
// way to the first that is not as good; again where a better one lay on the way.
AsGoodRange as_good_range(const AsGoodSearch& search);

}  // namespace windtunnel

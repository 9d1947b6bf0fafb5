// Between which intervals it does not matter how often a tier saves: the one search of `run` and
// `optimise`, so that both say the same.
#pragma once

#include <functional>
#include <utility>
#include <vector>

namespace windtunnel {

struct AsGoodSearch {
  double best_s = 0;          // the interval with the most goodput
  double least_s = 0;         // that the tier can keep to
  double most_s = 0;          // worth asking
  std::vector<double> tried;  // ascending, simulated already
  // Whether a campaign at this interval is as good as at the best (is_as_good()); simulates it
  // where it is new.
  std::function<bool(double every_s)> is_as_good;
};

// The shortest and the longest interval that is as good, each within 5 %: from the best outwards
// over those that were tried, beyond them by doubling, then by halving the way to the first that is
// not.
std::pair<double, double> as_good_range(const AsGoodSearch& search);

}  // namespace windtunnel

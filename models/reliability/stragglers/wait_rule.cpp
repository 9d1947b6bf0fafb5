#include "models/reliability/stragglers/wait_rule.hpp"

#include <algorithm>

#include "models/base/error.hpp"

namespace windtunnel {

double end_of_wait(const WaitRule& rule, std::span<double> arrivals) {
  CHECK(!arrivals.empty() && rule.missing >= 0, "{} arrivals, {} missing", arrivals.size(),
        rule.missing);
  const double last = std::ranges::max(arrivals);
  if (rule.missing == 0) return last;
  // Usually nearly all have arrived by `earliest`, so only the others need sorting.
  const auto late = std::partition(arrivals.begin(), arrivals.end(), [&](double arrival) {
    return arrival + rule.grace <= rule.earliest;
  });
  if (arrivals.end() - late <= rule.missing) return std::min(last, rule.earliest);
  const auto needed = arrivals.end() - 1 - rule.missing;
  std::nth_element(late, needed, arrivals.end());
  return std::min(last, *needed + rule.grace);
}

}  // namespace windtunnel

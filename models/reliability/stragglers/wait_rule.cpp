#include "models/reliability/stragglers/wait_rule.hpp"

#include <algorithm>

#include "models/base/error.hpp"

namespace windtunnel {

double end_of_wait(const WaitRule& rule, std::span<double> arrivals) {
  CHECK(!arrivals.empty() && rule.missing >= 0, "{} arrivals, {} missing", arrivals.size(),
        rule.missing);
  const double last = std::ranges::max(arrivals);
  const auto missing = static_cast<std::size_t>(rule.missing);
  if (missing == 0) return last;
  // Most often nearly all are there by `earliest`, and only the others need an order.
  const auto late = std::ranges::partition(
      arrivals, [&](double arrival) { return arrival + rule.grace <= rule.earliest; });
  if (late.size() <= missing) return std::min(last, rule.earliest);
  const auto needed = late.end() - 1 - static_cast<std::ptrdiff_t>(missing);
  std::ranges::nth_element(late, needed);
  return std::min(last, *needed + rule.grace);
}

}  // namespace windtunnel

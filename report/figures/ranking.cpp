#include "report/figures/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

namespace windtunnel {

std::vector<std::size_t> best_first(const std::vector<Standing>& points) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    const auto& [fits, worth] = points[i];
    const bool unknown = std::isnan(worth);
    return std::tuple(!fits, unknown, unknown ? 0 : -worth);
  });
  return order;
}

Estimate paired_lead(const std::vector<double>& best, const std::vector<double>& other) {
  std::vector<double> lead(std::min(best.size(), other.size()));
  for (size_t i = 0; i < lead.size(); ++i) lead[i] = best[i] - other[i];
  return estimate(std::move(lead), 1, -1);
}

bool is_gain(const Estimate& lead) {
  constexpr double kLeast = 5e-4;
  return lead.low > 0 && lead.mean >= kLeast;
}

}  // namespace windtunnel

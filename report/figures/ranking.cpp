#include "report/figures/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

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

}  // namespace windtunnel

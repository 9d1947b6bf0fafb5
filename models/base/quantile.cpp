#include "models/base/quantile.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>

#include "models/base/error.hpp"

namespace windtunnel {

double quantile_of_sorted(const std::vector<double>& sorted, double share) {
  CHECK(!sorted.empty() && share >= 0 && share <= 1, "quantile {} of {}", share, sorted.size());
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  return quantile_of_sorted(values, share);
}

double median(std::vector<double> values) {
  return quantile(std::move(values), 0.5);
}

double normal_spread(std::vector<double> distances) {
  // half of a normal law is within this distance of its mean
  constexpr double kNormal75 = 0.6744897501960817;
  return median(std::move(distances)) / kNormal75;
}

double error_of_median(double spread, std::size_t count) {
  return spread * std::sqrt(std::numbers::pi / 2 / static_cast<double>(count));
}

}  // namespace windtunnel

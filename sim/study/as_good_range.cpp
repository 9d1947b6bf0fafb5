#include "sim/study/as_good_range.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace windtunnel {
namespace {

constexpr double kOutwards = 2;
constexpr double kWithin = 1.05;

double apart(double a_s, double b_s) {
  return std::max(a_s, b_s) / std::min(a_s, b_s);
}

// From `good_s` towards `limit_s`, past those of `tried` in this order.
double end_of(const AsGoodSearch& search, const std::vector<double>& tried, double limit_s) {
  double good_s = search.best_s;
  std::optional<double> bad_s;
  const auto take = [&](double every_s) {
    if (search.is_as_good(every_s)) {
      good_s = every_s;
    } else {
      bad_s = every_s;
    }
  };
  for (size_t i = 0; i < tried.size() && !bad_s; ++i) take(tried[i]);
  const double factor = limit_s > good_s ? kOutwards : 1 / kOutwards;
  while (!bad_s && apart(good_s, limit_s) > kWithin) {
    const double next_s = good_s * factor;
    take(factor > 1 ? std::min(next_s, limit_s) : std::max(next_s, limit_s));
  }
  while (bad_s && apart(good_s, *bad_s) > kWithin) take(std::sqrt(good_s * *bad_s));
  return good_s;
}

}  // namespace

std::pair<double, double> as_good_range(const AsGoodSearch& search) {
  std::vector<double> shorter, longer;
  for (const double every_s : search.tried) {
    if (every_s < search.best_s && every_s >= search.least_s) shorter.push_back(every_s);
    if (every_s > search.best_s && every_s <= search.most_s) longer.push_back(every_s);
  }
  std::ranges::reverse(shorter);
  return {end_of(search, shorter, search.least_s), end_of(search, longer, search.most_s)};
}

}  // namespace windtunnel

#include "sim/study/as_good_range.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "models/results/paired_gain.hpp"

namespace windtunnel {
namespace {

constexpr double kOutwards = 2;
constexpr double kWithin = 1.05;

double apart(double a_s, double b_s) {
  return std::max(a_s, b_s) / std::min(a_s, b_s);
}

class RangeSearch {
 public:
  explicit RangeSearch(const AsGoodSearch& search) : search_(search) {
    for (const double every_s : search.tried) {
      if (every_s >= search.least_s && every_s <= search.most_s) tried_.insert(every_s);
    }
    if (tried_.empty()) {
      tried_.insert(std::clamp(search.tried.front(), search.least_s, search.most_s));
    }
  }

  AsGoodRange run() {
    while (true) {
      const double best_s = best();
      const AsGoodRange range = {best_s, shortest(best_s), longest(best_s)};
      if (best() == best_s) return range;
    }
  }

 private:
  double goodput(double every_s) const { return search_.campaign_at(every_s).goodput.mean; }

  double best() const {
    return *std::ranges::max_element(tried_, {}, [&](double at_s) { return goodput(at_s); });
  }

  bool is_as_good_as(double best_s, double every_s) {
    tried_.insert(every_s);
    return is_as_good(
        paired_gain(search_.campaign_at(best_s).trials, search_.campaign_at(every_s).trials));
  }

  double shortest(double best_s) {
    std::vector<double> shorter(tried_.begin(), tried_.lower_bound(best_s));
    std::ranges::reverse(shorter);
    return end_of(best_s, shorter, search_.least_s, 1 / kOutwards);
  }

  double longest(double best_s) {
    const std::vector<double> longer(tried_.upper_bound(best_s), tried_.end());
    return end_of(best_s, longer, search_.most_s, kOutwards);
  }

  // Searches outwards from the best interval: first the `known` ones in their order, then multiples
  // by `factor` up to the limit, until one is not as good.
  double end_of(double best_s, const std::vector<double>& known, double limit_s, double factor) {
    double good_s = best_s;
    std::optional<double> bad_s;
    const auto take = [&](double every_s) {
      if (is_as_good_as(best_s, every_s)) {
        good_s = every_s;
      } else {
        bad_s = every_s;
      }
    };
    for (std::size_t i = 0; i < known.size() && !bad_s; ++i) take(known[i]);
    while (!bad_s && apart(good_s, limit_s) > kWithin) {
      const double next_s = good_s * factor;
      take(factor > 1 ? std::min(next_s, limit_s) : std::max(next_s, limit_s));
    }
    return bad_s ? halved(best_s, good_s, *bad_s) : good_s;
  }

  double halved(double best_s, double good_s, double bad_s) {
    while (apart(good_s, bad_s) > kWithin) {
      const double middle_s = std::sqrt(good_s * bad_s);
      (is_as_good_as(best_s, middle_s) ? good_s : bad_s) = middle_s;
    }
    return good_s;
  }

  const AsGoodSearch& search_;
  std::set<double> tried_;
};

}  // namespace

AsGoodRange as_good_range(const AsGoodSearch& search) {
  return RangeSearch(search).run();
}

}  // namespace windtunnel

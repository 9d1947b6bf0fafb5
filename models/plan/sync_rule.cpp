#include "models/plan/sync_rule.hpp"

#include <algorithm>
#include <cmath>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

double rate_at(const std::vector<LearningRate>& rates, double step) {
  const auto above = std::ranges::upper_bound(rates, step, {}, &LearningRate::step);
  if (above == rates.end()) return rates.back().rate;
  if (above == rates.begin()) return rates.front().rate;
  const LearningRate& low = *(above - 1);
  return low.rate + (above->rate - low.rate) * (step - low.step) / (above->step - low.step);
}

}  // namespace

double quadratic_period_steps(const std::vector<LearningRate>& rates, double base_steps,
                              double growth) {
  CHECK(rates.size() >= 2 && base_steps >= 1, "{} rates, base {}", rates.size(), base_steps);
  const double end = rates.back().step;
  double exchanges = 0;
  double step = rates.front().step;
  for (; step < end; ++exchanges) {
    const double rate = rate_at(rates, step);
    const double left = end - step;
    // The last period ends with the steps, even if the rule makes it longer.
    const double grown = rate > 0 ? std::pow(growth / rate, 2) : left;
    step += std::min(left, std::max(base_steps, std::floor(grown)));
  }
  return (end - rates.front().step) / exchanges;
}

}  // namespace windtunnel

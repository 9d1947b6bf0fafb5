#include "models/reliability/waiting_theory.hpp"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>

namespace windtunnel {
namespace {

double normal(double x) {
  return std::erfc(-x / std::sqrt(2.0)) / 2;
}

}  // namespace

double mean_repair_s(const RepairTime& repair, double most_s) {
  const std::vector<double>& recorded_s = repair.empirical_s;
  if (!recorded_s.empty()) {
    double sum_s = 0;
    for (const double seconds : recorded_s) sum_s += std::min(seconds, most_s);
    return sum_s / static_cast<double>(recorded_s.size());
  }
  const double sigma = repair.lognormal_sigma;
  const double median_s = repair.lognormal_median_s;
  if (median_s == 0 || sigma == 0) return std::min(std::max(repair.fixed_s, median_s), most_s);
  const double z = std::log(most_s / median_s) / sigma;
  return median_s * std::exp(sigma * sigma / 2) * normal(z - sigma) + most_s * normal(-z);
}

double expected_wait_s(const std::vector<FailureClass>& failures, int nodes, int spares,
                       double length_s) {
  constexpr int kSteps = 200;  // the midpoint of each
  double wait_s = 0;
  for (int step = 0; step < kSteps; ++step) {
    const double at_s = length_s * (step + 0.5) / kSteps;
    double in_repair = 0;
    for (const FailureClass& failure_class : failures) {
      const bool counts =
          failure_class.kind == FailureKind::node && failure_class.arrivals != Arrivals::trace;
      if (!counts) continue;
      in_repair += job_rate_per_s(failure_class, nodes) * mean_batch(failure_class) *
                   mean_repair_s(failure_class.repair, at_s);
    }
    if (in_repair > 0) wait_s += boost::math::gamma_p(spares + 1.0, in_repair) * length_s / kSteps;
  }
  return wait_s;
}

}  // namespace windtunnel

#include "models/interval_theory.hpp"

#include <boost/math/special_functions/lambert_w.hpp>
#include <cmath>

namespace windtunnel {

double young_interval_s(double save_s, double mtbf_s) {
  return std::sqrt(2 * save_s * mtbf_s);
}

double daly_interval_s(double save_s, double mtbf_s) {
  if (save_s >= 2 * mtbf_s) return mtbf_s;
  const double ratio = save_s / (2 * mtbf_s);
  return young_interval_s(save_s, mtbf_s) * (1 + std::sqrt(ratio) / 3 + ratio / 9) - save_s;
}

double optimal_interval_s(double save_s, double mtbf_s) {
  return mtbf_s * (1 + boost::math::lambert_w0(-std::exp(-save_s / mtbf_s - 1)));
}

double expected_segment_s(double interval_s, double save_s, double recovery_s, double mtbf_s) {
  return std::exp(recovery_s / mtbf_s) * mtbf_s * std::expm1((interval_s + save_s) / mtbf_s);
}

double additive_ettr(double interval_s, double save_s, double recovery_s, double mtbf_s) {
  return (1 - (recovery_s + interval_s / 2) / mtbf_s) / (1 + save_s / interval_s);
}

}  // namespace windtunnel

#include "models/reliability/interval_theory.hpp"

#include <algorithm>
#include <boost/math/special_functions/lambert_w.hpp>
#include <cmath>

#include "models/base/error.hpp"
#include "models/base/units.hpp"

namespace windtunnel {
namespace {

void check_times(double save_s, double mtbf_s) {
  CHECK(save_s >= 0 && mtbf_s > 0, "a save of {} s and {} s between failures", save_s, mtbf_s);
}

}  // namespace

double young_interval_s(double save_s, double mtbf_s) {
  check_times(save_s, mtbf_s);
  return save_s == 0 ? 0 : std::sqrt(2 * save_s * mtbf_s);
}

double daly_interval_s(double save_s, double mtbf_s) {
  check_times(save_s, mtbf_s);
  if (save_s >= 2 * mtbf_s) return mtbf_s;
  const double ratio = save_s / (2 * mtbf_s);
  return young_interval_s(save_s, mtbf_s) * (1 + std::sqrt(ratio) / 3 + ratio / 9) - save_s;
}

double exact_interval_s(double save_s, double mtbf_s) {
  check_times(save_s, mtbf_s);
  if (save_s == 0 || std::isinf(mtbf_s)) return young_interval_s(save_s, mtbf_s);
  const double ratio = save_s / mtbf_s;
  // Near the branch point of W0 its argument loses digits to rounding; the series there (Corless et
  // al., Adv. Comput. Math. 5, 1996, eq. 4.22) is more accurate. Where the two meet, both are
  // accurate to 1e-9.
  if (ratio < 1e-6) {
    const double p = std::sqrt(-2 * std::expm1(-ratio));
    return mtbf_s * p * (1 + p * (-1.0 / 3 + p * 11 / 72));
  }
  return mtbf_s * (1 + boost::math::lambert_w0(-std::exp(-ratio - 1)));
}

double expected_segment_s(double work_s, double save_s, double mtbf_s, double restart_s) {
  check_times(save_s, mtbf_s);
  if (std::isinf(mtbf_s)) return work_s + save_s;
  return std::exp(restart_s / mtbf_s) * mtbf_s * std::expm1((work_s + save_s) / mtbf_s);
}

double expected_goodput(double work_s, double save_s, double mtbf_s, double restart_s) {
  if (work_s <= 0) return 0;
  return work_s / expected_segment_s(work_s, save_s, mtbf_s, restart_s);
}

double rsc_ettr(int nodes, double failures_per_node_s, double restart_s, double interval_s,
                double write_s) {
  const double lost = nodes * failures_per_node_s * (restart_s + interval_s / 2);
  return std::max(0.0, 1 - lost) / (1 + write_s / interval_s);
}

double gemini_wasted_s(double save_s, double interval_s, double load_s) {
  return save_s + interval_s / 2 + load_s;
}

double cycle_ettr(double mtbf_s, double stall_s, double degraded_s, double share) {
  const double stalled_s = std::min(stall_s, mtbf_s);
  const double slowed_s = std::min(degraded_s, mtbf_s - stalled_s);
  return (share * slowed_s + (mtbf_s - stalled_s - slowed_s)) / mtbf_s;
}

}  // namespace windtunnel

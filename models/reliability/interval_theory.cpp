#include "models/reliability/interval_theory.hpp"

#include <algorithm>
#include <boost/math/special_functions/lambert_w.hpp>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <limits>

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
  // Near its branch point the argument of W0 rounds away what counts; the series there (Corless et
  // al., Adv. Comput. Math. 5, 1996, eq. 4.22) is then the better one. Where they meet both are
  // good to 1e-9.
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

// --- two levels

// A period is far_every segments, each near_s of work and a save; the far save, which leaves a near
// copy as well, ends the last. Failures come at rate l = a + b (near, far). leave_segment() gives
// how a segment ends whose near copy is there, leave_row() how several do, and period_s() solves
// for the whole.
namespace {

// Leaving a segment whose near copy exists.
struct Leave {
  double fails = 0;   // probability of a far failure
  double time_s = 0;  // mean, whichever comes
};

// A segment of length L is passed in one go with probability s = exp(-l L), and a try takes (1 - s)
// / l on average. A near failure goes back to the start of its segment after a near restart.
// Failures strike it too: with r = exp(-l R_near) it ends well with probability r / (r + (1 - r) b
// / l), else in a far failure. So a segment is left by completing it or by a far failure, both
// after any number of near ones: geometric sums.
Leave leave_segment(const TwoLevels& levels, double length_s) {
  const double near_rate = 1 / levels.near_mtbf_s;
  const double far_rate = 1 / levels.far_mtbf_s;
  const double rate = near_rate + far_rate;
  const double far_share = far_rate / rate;
  const double restarts = std::exp(-rate * levels.near_restart_s);
  const double restart_breaks = -std::expm1(-rate * levels.near_restart_s);
  const double settles = restarts + restart_breaks * far_share;
  const double worsens = restart_breaks * far_share / settles;  // a near failure to a far one
  const double near_restart_s = restart_breaks / rate / settles;

  const double breaks = -std::expm1(-rate * length_s);
  const double near = breaks * (1 - far_share);
  const double far = breaks * far_share + near * worsens;
  const double ends = std::exp(-rate * length_s) + far;
  return {far / ends, (breaks / rate + near * near_restart_s) / ends};
}

// `count` such segments in a row, until the last is passed or one fails.
Leave leave_row(const Leave& one, int count) {
  const double passes = std::log1p(-one.fails);
  if (one.fails == 0) return {0, one.time_s * count};
  const double fails = -std::expm1(count * passes);
  return {fails, one.time_s * fails / one.fails};
}

Leave then(const Leave& first, const Leave& next) {
  return {first.fails + (1 - first.fails) * next.fails,
          first.time_s + (1 - first.fails) * next.time_s};
}

// A far failure goes back to the start of the period. The near copies are gone: until the first
// segment is complete both kinds are far failures, each costs exp(l R_far) / l - 1 / l, and the
// segment is passed exp(l R_far) (exp(l L) - 1) / l after the first far restart began to count. The
// other segments follow as before; Y, from a far failure to the end of the period, solves Y = W + E
// + (1 - C) Y, C and E being the chance to pass them and the time spent on them.
double period_s(const TwoLevels& levels, const TwoLevelIntervals& intervals) {
  const double near_s = intervals.near_s + levels.near_save_s;
  const double far_s = intervals.near_s + levels.far_save_s;
  const int rows = intervals.far_every - 1;
  const double rate = 1 / levels.near_mtbf_s + 1 / levels.far_mtbf_s;
  if (rate == 0) return rows * near_s + far_s;

  const Leave near = leave_segment(levels, near_s);
  const Leave last = leave_segment(levels, far_s);
  const Leave whole = then(leave_row(near, rows), last);
  if (levels.far_mtbf_s == kInfinity) return whole.time_s;

  const Leave rest = rows == 0 ? Leave{} : then(leave_row(near, rows - 1), last);
  const double restart_s = std::expm1(rate * levels.far_restart_s) / rate;
  const double first_s = std::exp(rate * levels.far_restart_s) *
                         std::expm1(rate * (rows == 0 ? far_s : near_s)) / rate;
  const double after_far_failure_s = (restart_s + first_s + rest.time_s) / (1 - rest.fails);
  return whole.time_s + whole.fails * after_far_failure_s;
}

}  // namespace

double two_level_goodput(const TwoLevels& levels, const TwoLevelIntervals& intervals) {
  check_times(levels.near_save_s, levels.near_mtbf_s);
  check_times(levels.far_save_s, levels.far_mtbf_s);
  CHECK(intervals.far_every >= 1, "a far save every {} near ones", intervals.far_every);
  if (intervals.near_s <= 0) return 0;
  const double work_s = intervals.near_s * intervals.far_every;
  const double goodput = work_s / period_s(levels, intervals);
  return std::isfinite(goodput) ? goodput : 0;  // so long that no number holds the time
}

namespace {

// The best near interval for this far_every.
TwoLevelIntervals best_near(const TwoLevels& levels, int far_every) {
  // It is below the mean time between failures (exact_interval_s is), the period below a few of
  // those that go back to its start. Log scale: over it the costs are close to a parabola.
  const double mtbf_s = 1 / (1 / levels.near_mtbf_s + 1 / levels.far_mtbf_s);
  const double most_s = std::min(mtbf_s, 4 * levels.far_mtbf_s / far_every);
  const double least_s =
      1e-3 *
      std::min(most_s, young_interval_s(std::min(levels.near_save_s, levels.far_save_s), mtbf_s));
  const auto time_per_work = [&](double log_s) {
    const double near_s = std::exp(log_s);
    const double spent_s = period_s(levels, {near_s, far_every});
    return std::isfinite(spent_s) ? std::log(spent_s / (near_s * far_every)) : 1e300;
  };
  constexpr int kBits = 26;  // half of those of a double: as close as a minimum can be told
  const auto best = boost::math::tools::brent_find_minima(time_per_work, std::log(least_s),
                                                          std::log(most_s), kBits);
  return {std::exp(best.first), far_every};
}

}  // namespace

TwoLevelIntervals two_level_optimum(const TwoLevels& levels) {
  check_times(levels.near_save_s, levels.near_mtbf_s);
  check_times(levels.far_save_s, levels.far_mtbf_s);
  CHECK(levels.near_save_s > 0 && levels.far_save_s > 0, "saves of {} s and {} s cost nothing",
        levels.near_save_s, levels.far_save_s);
  CHECK(std::isfinite(levels.near_mtbf_s) || std::isfinite(levels.far_mtbf_s), "nothing fails");
  constexpr int kMostFarEvery = 1 << 20;
  const auto goodput = [&](int far_every) {
    return two_level_goodput(levels, best_near(levels, far_every));
  };
  int beyond = 2;  // the optimum lies in [1, beyond]
  for (double best = goodput(1); beyond < kMostFarEvery; beyond *= 2) {
    const double next = goodput(beyond);
    if (next <= best) break;
    best = next;
  }
  int least = std::max(1, beyond / 4);
  int most = beyond;
  while (most > least) {  // which side of the middle rises
    const int middle = least + (most - least) / 2;
    if (goodput(middle) < goodput(middle + 1)) {
      least = middle + 1;
    } else {
      most = middle;
    }
  }
  return best_near(levels, least);
}

TwoLevelIntervals two_level_young(const TwoLevels& levels) {
  const double near_s = young_interval_s(levels.near_save_s, levels.near_mtbf_s);
  const double far_s = young_interval_s(levels.far_save_s, levels.far_mtbf_s);
  if (!(near_s < far_s)) return {far_s, 1};
  constexpr double kMostFarEvery = 1 << 30;  // of an int, where nothing needs a far copy
  return {near_s, static_cast<int>(std::min(kMostFarEvery, std::round(far_s / near_s)))};
}

}  // namespace windtunnel

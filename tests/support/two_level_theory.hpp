// The goodput of two levels of snapshots in closed form, with which tests compare campaigns.
#pragma once

#include <cmath>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/reliability/interval_theory.hpp"

namespace windtunnel {

// There are two levels: a near copy after every interval, and a far copy instead of every n-th near
// one. Failures covered by a near copy come every near_mtbf_s, those that need a far one every
// far_mtbf_s.
struct TwoLevels {
  double near_save_s = 0;
  double far_save_s = 0;
  double near_mtbf_s = 0;
  double far_mtbf_s = 0;
  double near_restart_s = 0;
  double far_restart_s = 0;
};
struct TwoLevelIntervals {
  double near_s = 0;  // work between near saves
  int far_every = 1;  // intervals per far save, which replaces the last near one
};

// A period has far_every segments, each with near_s of work and a save; the last save is far and
// also leaves a near copy. Failures come at rate l = a + b (near, far). leave_segment() gives how a
// segment with a near copy ends, leave_row() how several do, and period_s() solves for the whole
// period.

// Describes how a segment with an existing near copy ends.
struct Leave {
  double fails = 0;   // probability of a far failure
  double time_s = 0;  // mean time until either end
};

// A segment of length L is passed in one go with probability s = exp(-l L), and an attempt takes (1
// - s) / l on average. A near failure goes back to the start of its segment, after a near restart
// that may itself fail: with r = exp(-l R_near) it ends well with probability r / (r + (1 - r) b /
// l), else in a far failure. So a segment ends by completion or by a far failure, each after any
// number of near ones, which gives geometric sums.
inline Leave leave_segment(const TwoLevels& levels, double length_s) {
  const double near_rate = 1 / levels.near_mtbf_s;
  const double far_rate = 1 / levels.far_mtbf_s;
  const double rate = near_rate + far_rate;
  const double far_share = far_rate / rate;
  const double restarts = std::exp(-rate * levels.near_restart_s);
  const double restart_breaks = -std::expm1(-rate * levels.near_restart_s);
  const double settles = restarts + restart_breaks * far_share;
  // Probability that a near failure becomes a far one.
  const double worsens = restart_breaks * far_share / settles;
  const double near_restart_s = restart_breaks / rate / settles;

  const double breaks = -std::expm1(-rate * length_s);
  const double near = breaks * (1 - far_share);
  const double far = breaks * far_share + near * worsens;
  const double ends = std::exp(-rate * length_s) + far;
  return {far / ends, (breaks / rate + near * near_restart_s) / ends};
}

// Returns how `count` such segments in a row end: all are complete, or a far failure ends one.
inline Leave leave_row(const Leave& one, int count) {
  const double passes = std::log1p(-one.fails);
  if (one.fails == 0) return {0, one.time_s * count};
  const double fails = -std::expm1(count * passes);
  return {fails, one.time_s * fails / one.fails};
}

inline Leave then(const Leave& first, const Leave& next) {
  return {first.fails + (1 - first.fails) * next.fails,
          first.time_s + (1 - first.fails) * next.time_s};
}

// A far failure goes back to the start of the period. The near copies are gone, so until the first
// segment is complete both kinds act as far failures. Each restart then takes exp(l R_far) / l - 1
// / l, and the segment is passed exp(l R_far) (exp(l L) - 1) / l after the first far restart. The
// other segments follow as before. Let C be the chance to pass them, E the time spent on them, and
// W the time for restart and first segment; the time Y from a far failure to the end of the period
// solves Y = W + E + (1 - C) Y.
inline double period_s(const TwoLevels& levels, const TwoLevelIntervals& intervals) {
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

// Returns the expected share of useful time, which is exact for exponential failures of both kinds.
inline double two_level_goodput(const TwoLevels& levels, const TwoLevelIntervals& intervals) {
  CHECK(intervals.far_every >= 1, "a far save every {} near ones", intervals.far_every);
  if (intervals.near_s <= 0) return 0;
  const double work_s = intervals.near_s * intervals.far_every;
  const double goodput = work_s / period_s(levels, intervals);
  return std::isfinite(goodput) ? goodput : 0;  // 0 if the time is too long for a double
}

}  // namespace windtunnel

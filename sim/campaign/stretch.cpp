#include "sim/campaign/stretch.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

constexpr std::int64_t kManyIterations = std::int64_t{1} << 52;
constexpr std::int64_t kMostResidues = 256;  // of leaps: bounds their memory

// A copy may seem to end an ulp after the iteration or period that it fills exactly.
std::int64_t whole_turns(double duration_s, double turn_s) {
  return std::max<std::int64_t>(1, std::llround(std::ceil(duration_s / turn_s - 1e-9)));
}

// The largest count in [0, most] with fits(value(count)), where value rises by `mean` per count on
// average and fits(value(0)) holds: interpolation, then bisection in what it leaves.
template <class Value, class Fits>
std::int64_t largest_fit(Value value, Fits fits, double limit, double mean, std::int64_t most) {
  std::int64_t fit = 0;
  std::int64_t excess = most + 1;
  if (most == 0) return 0;
  double count = std::floor((limit - value(0)) / mean);
  for (int tries = 0; excess - fit > 1; ++tries) {
    const std::int64_t middle = fit + (excess - fit) / 2;
    if (tries >= 8) count = static_cast<double>(middle);
    const auto guess = static_cast<std::int64_t>(
        std::clamp(count, static_cast<double>(fit + 1), static_cast<double>(excess - 1)));
    const double at_guess = value(guess);
    (fits(at_guess) ? fit : excess) = guess;
    count = static_cast<double>(guess) + std::floor((limit - at_guess) / mean);
  }
  return fit;
}

}  // namespace

Steps& Steps::operator+=(const Steps& other) {
  total += other.total;
  for (std::size_t set = 0; set < by_set.size(); ++set) by_set[set] += other.by_set[set];
  return *this;
}

Steps& Steps::operator-=(const Steps& other) {
  total -= other.total;
  for (std::size_t set = 0; set < by_set.size(); ++set) by_set[set] -= other.by_set[set];
  return *this;
}

Pace::Pace(const IterationTable& table, int missing_nodes)
    : iteration_s_(missing_nodes == 0 ? table.iteration_s[0]
                                      : table.shrunk_iteration_s[missing_nodes - 1]) {
  stall_s_.reserve(table.iteration_s.size());
  for (const double duration_s : table.iteration_s) {
    stall_s_.push_back(std::max(0.0, duration_s - table.iteration_s[0]));
  }
  set_cadences(table);
  set_common_periods();
}

void Pace::set_cadences(const IterationTable& table) {
  for (int tier = 0; tier < static_cast<int>(table.tiers.size()); ++tier) {
    const TierTiming& timing = table.tiers[tier];
    Cadence cadence;
    cadence.complete_s = timing.complete_s;
    if (timing.tier.every_iterations > 0) {
      // The shortest iteration that takes it, then plain ones: complete in any case.
      double own_stall_s = std::numeric_limits<double>::infinity();
      for (int set = 0; set < sets(); ++set) {
        if (set >> tier & 1) own_stall_s = std::min(own_stall_s, stall_s_[set]);
      }
      const std::int64_t needed = whole_turns(timing.complete_s - own_stall_s, iteration_s_);
      const std::int64_t period = timing.tier.every_iterations;
      cadence.turns = (needed + period - 1) / period;
      cadence.every_iterations = period * cadence.turns;
    } else {
      cadence.turns = whole_turns(timing.complete_s, timing.tier.every_s);
      cadence.every_s = timing.tier.every_s * static_cast<double>(cadence.turns);
    }
    cadences_.push_back(cadence);
  }
}

void Pace::set_common_periods() {
  common_period_.assign(stall_s_.size(), 0);
  mean_iteration_s_ = iteration_s_;
  for (int set = 1; set < sets(); ++set) {
    std::int64_t common = 1;
    for (int tier = 0; tier < tiers() && common > 0; ++tier) {
      if (!(set >> tier & 1)) continue;
      const std::int64_t period = cadences_[tier].every_iterations;
      common = period == 0 ? 0 : common / std::gcd(common, period) * period;
      if (common > kManyIterations) common = 0;
    }
    common_period_[set] = common;
  }
  for (int tier = 0; tier < tiers(); ++tier) {
    const std::int64_t period = cadences_[tier].every_iterations;
    if (period == 0) continue;
    untimed_ |= 1 << tier;
    mean_iteration_s_ += stall_s_[1 << tier] / static_cast<double>(period);
  }
  set_leaps();
}

// leaps_[0][r]: from the start of the timed tier at an iteration that is r modulo the common period
// of the others to its next start; leaps_[k]: 2^k of these. Everything repeats modulo that period.
void Pace::set_leaps() {
  const std::int64_t period = untimed_ == 0 ? 1 : common_period_[untimed_];
  const int timed = (sets() - 1) & ~untimed_;
  if (!std::has_single_bit(static_cast<unsigned>(timed)) || period == 0 || period > kMostResidues) {
    return;
  }
  const double every_s = cadences_[std::countr_zero(static_cast<unsigned>(timed))].every_s;
  leaping_tier_ = timed;
  leaps_.resize(kLeaps, std::vector<Steps>(period));
  for (std::int64_t residue = 0; residue < period; ++residue) {
    Steps steps;
    steps.total = 1;
    ++steps.by_set[due_by_iteration(residue) | timed];
    const std::int64_t next = period + residue + 1;  // any iteration >= 1 with that residue
    add_iterations(steps, next, next + iterations_before(every_s, steps, next, kManyIterations));
    leaps_[0][residue] = steps;
  }
  for (int leap = 1; leap < kLeaps; ++leap) {
    for (std::int64_t residue = 0; residue < period; ++residue) {
      Steps steps = leaps_[leap - 1][residue];
      steps += leaps_[leap - 1][(residue + steps.total) % period];
      leaps_[leap][residue] = steps;
    }
  }
  std::int64_t longest_period = 0;
  for (const Cadence& cadence : cadences_) {
    longest_period = std::max(longest_period, cadence.every_iterations);
  }
  const double slowest_s = iteration_s_ + *std::max_element(stall_s_.begin(), stall_s_.end());
  leap_guard_s_ = every_s + static_cast<double>(longest_period + 3) * slowest_s;
}

double Pace::elapsed_s(const Steps& steps) const {
  double elapsed = static_cast<double>(steps.total) * iteration_s_;
  for (int set = 1; set < sets(); ++set) {
    elapsed += static_cast<double>(steps.by_set[set]) * stall_s_[set];
  }
  return elapsed;
}

void Pace::add_iterations(Steps& steps, std::int64_t first, std::int64_t last) const {
  steps.total += last - first;
  if (untimed_ == 0) return;
  // First those with at least the tiers of the set, then without the ones that have more. This is
  // the innermost loop of a campaign: unsigned division is the faster one, both are 0 or more.
  std::array<std::int64_t, 1 << kMaxSnapshotTiers> count;
  for (int set = 1; set < sets(); ++set) {
    const auto period = static_cast<std::uint64_t>(common_period_[set]);
    count[set] = period == 0
                     ? 0
                     : static_cast<std::int64_t>(static_cast<std::uint64_t>(last - 1) / period -
                                                 static_cast<std::uint64_t>(first - 1) / period);
  }
  for (int bit = 1; bit < sets(); bit <<= 1) {
    if (!(untimed_ & bit)) continue;
    for (int set = 1; set < sets(); ++set) {
      if (!(set & bit)) count[set] -= count[set | bit];
    }
  }
  for (int set = 1; set < sets(); ++set) steps.by_set[set] += count[set];
}

double Pace::elapsed_s(Steps steps, std::int64_t first, std::int64_t last) const {
  add_iterations(steps, first, last);
  return elapsed_s(steps);
}

std::int64_t Pace::iterations_before(double time_s, const Steps& done, std::int64_t first,
                                     std::int64_t most) const {
  const auto start_s = [&](std::int64_t more) { return elapsed_s(done, first, first + more); };
  const auto before = [&](double at_s) { return at_s < time_s; };
  if (!before(start_s(0))) return 0;
  // The iteration after `more` still starts before: it is one of them.
  return std::min(most, 1 + largest_fit(start_s, before, time_s, mean_iteration_s_, most));
}

int Pace::due_by_iteration(std::int64_t iteration) const {
  int set = 0;
  for (int tier = 0; tier < tiers(); ++tier) {
    const std::int64_t period = cadences_[tier].every_iterations;
    if (period > 0 && iteration % period == 0) set |= 1 << tier;
  }
  return set;
}

Stretch::Stretch(const Pace& pace, CampaignMode mode, double start_s, std::int64_t first_iteration)
    : pace_(&pace), mode_(mode), start_s_(start_s), first_(first_iteration) {}

int Stretch::due() const {
  if (done_.total == 0) return 0;
  int set = pace_->due_by_iteration(iteration());
  for (int tier = 0; tier < pace_->tiers(); ++tier) {
    const Cadence& cadence = pace_->cadence(tier);
    if (cadence.every_iterations > 0) continue;
    Steps since = done_;
    since -= snapshots_[tier].at;
    if (pace_->elapsed_s(since) >= cadence.every_s) set |= 1 << tier;
  }
  return set;
}

bool Stretch::step(double until_s) {
  const int set = due();
  Steps after = done_;
  ++after.total;
  if (set != 0) ++after.by_set[set];
  if (start_s_ + pace_->elapsed_s(after) > until_s) return false;
  for (int tier = 0; tier < pace_->tiers(); ++tier) {
    if (!(set >> tier & 1)) continue;
    note_snapshot(tier, iteration(), done_);
  }
  done_ = after;
  return true;
}

void Stretch::advance(double until_s) {
  bool may_leap = now_s() + pace_->leap_guard_s() < until_s;
  while (step(until_s)) {
    if (mode_ == CampaignMode::replay) continue;
    // Up to the next iteration that a timed tier may be due in, which step() then decides.
    take_jump(iterations_by(until_s, iterations_until_timed()));
    if (may_leap) {
      leap(until_s - pace_->leap_guard_s());
      may_leap = false;
    }
  }
}

// Whole periods of the timed tier that end by `until_s`. The iterations after the leaps, which the
// guard leaves, set the newest snapshots of every tier anew.
void Stretch::leap(double until_s) {
  if (!(due() & pace_->leaping_tier())) return;
  const auto take = [&](int leap) {
    Steps after = done_;
    after += pace_->leap(leap, iteration());
    if (start_s_ + pace_->elapsed_s(after) > until_s) return false;
    done_ = after;
    return true;
  };
  int leap = 0;
  while (leap < Pace::kLeaps && take(leap)) ++leap;
  while (--leap >= 0) {
    while (take(leap)) continue;
  }
}

// How many iterations follow before the first in which a timed tier is due.
std::int64_t Stretch::iterations_until_timed() const {
  const int leaping = pace_->leaping_tier();
  if (leaping != 0) {
    const std::int64_t last = snapshots_[std::countr_zero(static_cast<unsigned>(leaping))].last;
    if (last >= 0 && last == iteration() - 1) return pace_->leap(0, last).total - 1;
  }
  std::int64_t count = kManyIterations;
  for (int tier = 0; tier < pace_->tiers(); ++tier) {
    const Cadence& cadence = pace_->cadence(tier);
    if (cadence.every_iterations > 0) continue;
    Steps since = done_;
    since -= snapshots_[tier].at;
    count = pace_->iterations_before(cadence.every_s, since, iteration(), count);
  }
  return count;
}

// How many iterations, at most `most`, end by `until_s` when no timed tier is due.
std::int64_t Stretch::iterations_by(double until_s, std::int64_t most) const {
  const auto end_s = [&](std::int64_t more) {
    return start_s_ + pace_->elapsed_s(done_, iteration(), iteration() + more);
  };
  const auto in_time = [&](double end) { return end <= until_s; };
  if (most < kManyIterations && in_time(end_s(most))) return most;
  return largest_fit(end_s, in_time, until_s, pace_->mean_iteration_s(), most);
}

void Stretch::take_jump(std::int64_t count) {
  if (count == 0) return;
  const std::int64_t begin = iteration();
  const std::int64_t end = begin + count;
  for (int tier = 0; tier < pace_->tiers(); ++tier) {
    const std::int64_t period = pace_->cadence(tier).every_iterations;
    if (period == 0) continue;
    const std::int64_t last = (end - 1) / period * period;
    if (last < begin) continue;
    Steps before = done_;
    pace_->add_iterations(before, begin, last);
    note_snapshot(tier, last, before);
  }
  pace_->add_iterations(done_, begin, end);
}

void Stretch::note_snapshot(int tier, std::int64_t iteration, const Steps& before) {
  Snapshots& snapshots = snapshots_[tier];
  const std::int64_t period = pace_->cadence(tier).every_iterations;
  if (mode_ == CampaignMode::replay || period == 0) {
    snapshots.previous = snapshots.last;
  } else {  // jumped over
    snapshots.previous = iteration - period > first_ ? iteration - period : -1;
  }
  snapshots.last = iteration;
  snapshots.at = before;
}

std::int64_t Stretch::newest_complete(int tier, double at_s, bool running) const {
  const double complete_s = pace_->cadence(tier).complete_s;
  if (running && (due() >> tier & 1) && now_s() + complete_s <= at_s) return iteration();
  const Snapshots& snapshots = snapshots_[tier];
  if (snapshots.last < 0) return -1;
  const double start_s = start_s_ + pace_->elapsed_s(snapshots.at);
  return start_s + complete_s <= at_s ? snapshots.last : snapshots.previous;
}

}  // namespace windtunnel

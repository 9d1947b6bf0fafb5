#include "sim/campaign/stretch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

constexpr std::int64_t kManyIterations = std::int64_t{1} << 52;

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
  double count = std::floor((limit - value(0)) / mean);
  for (int tries = 0; excess - fit > 1; ++tries) {
    if (tries >= 8) count = static_cast<double>(fit + (excess - fit) / 2);
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

Pace::Pace(const IterationTable& table, int missing_replicas)
    : iteration_s_(missing_replicas == 0 ? table.iteration_s[0]
                                         : table.shrunk_iteration_s[missing_replicas - 1]) {
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
    if (period > 0) mean_iteration_s_ += stall_s_[1 << tier] / static_cast<double>(period);
  }
}

double Pace::elapsed_s(const Steps& steps) const {
  double elapsed = static_cast<double>(steps.total) * iteration_s_;
  for (int set = 1; set < sets(); ++set) {
    elapsed += static_cast<double>(steps.by_set[set]) * stall_s_[set];
  }
  return elapsed;
}

Steps Pace::steps_between(std::int64_t first, std::int64_t last) const {
  Steps steps;
  steps.total = last - first;
  // First those with at least the tiers of the set, then without the ones that have more.
  for (int set = 1; set < sets(); ++set) {
    const std::int64_t period = common_period_[set];
    if (period > 0) steps.by_set[set] = (last - 1) / period - (first - 1) / period;
  }
  for (int bit = 1; bit < sets(); bit <<= 1) {
    for (int set = 1; set < sets(); ++set) {
      if (!(set & bit)) steps.by_set[set] -= steps.by_set[set | bit];
    }
  }
  return steps;
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
    Snapshots& snapshots = snapshots_[tier];
    snapshots.previous = snapshots.last;
    snapshots.last = iteration();
    snapshots.at = done_;
  }
  done_ = after;
  return true;
}

void Stretch::advance(double until_s) {
  while (step(until_s)) {
    if (mode_ == CampaignMode::replay) continue;
    // Up to the next iteration that a timed tier may be due in, which step() then decides.
    const std::int64_t untimed = iterations_until_timed();
    take_jump(std::min(untimed, iterations_by(until_s)));
  }
}

// How many iterations follow before the first in which a timed tier is due.
std::int64_t Stretch::iterations_until_timed() const {
  std::int64_t count = kManyIterations;
  for (int tier = 0; tier < pace_->tiers(); ++tier) {
    const Cadence& cadence = pace_->cadence(tier);
    if (cadence.every_iterations > 0) continue;
    Steps since = done_;
    since -= snapshots_[tier].at;
    const auto elapsed_s = [&](std::int64_t more) {
      Steps steps = since;
      steps += pace_->steps_between(iteration(), iteration() + more);
      return pace_->elapsed_s(steps);
    };
    const auto before = [&](double elapsed) { return elapsed < cadence.every_s; };
    if (!before(elapsed_s(0))) return 0;
    // Not due at the start of the iteration after `more`: that one can follow too.
    count = std::min(count, 1 + largest_fit(elapsed_s, before, cadence.every_s,
                                            pace_->mean_iteration_s(), count));
  }
  return count;
}

std::int64_t Stretch::iterations_by(double until_s) const {
  const auto end_s = [&](std::int64_t more) {
    Steps steps = done_;
    steps += pace_->steps_between(iteration(), iteration() + more);
    return start_s_ + pace_->elapsed_s(steps);
  };
  const auto in_time = [&](double end) { return end <= until_s; };
  return largest_fit(end_s, in_time, until_s, pace_->mean_iteration_s(), kManyIterations);
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
    Snapshots& snapshots = snapshots_[tier];
    snapshots.previous = last - period > first_ ? last - period : -1;
    snapshots.last = last;
    snapshots.at = done_;
    snapshots.at += pace_->steps_between(begin, last);
  }
  done_ += pace_->steps_between(begin, end);
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

#include "sim/campaign/undisturbed_run.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/reliability/saving_interval.hpp"
#include "models/reliability/saving_rule.hpp"

namespace windtunnel {

UndisturbedRun::UndisturbedRun(const Pace& pace, CampaignMode mode, double start_s,
                               std::int64_t first_iteration, Ruling* ruling)
    : pace_(&pace),
      mode_(mode),
      ruling_(ruling),
      trains_from_s_(start_s),
      start_s_(start_s),
      first_(first_iteration) {
  for (int tier = 0; tier < pace.tiers(); ++tier) {
    snapshots_[tier].every_s = interval_s(tier, start_s, first_iteration);
    snapshots_[tier].wait_s = snapshots_[tier].every_s;
  }
}

void UndisturbedRun::go_on(const Pace& pace, double start_s) {
  for (int tier = 0; tier < pace.tiers(); ++tier) {
    Snapshots& snapshots = snapshots_[tier];
    const double begun_s =
        start_s_ + pace_->elapsed_s(snapshots.at) + snapshots.wait_s - snapshots.every_s;
    snapshots.wait_s = snapshots.every_s - (start_s - begun_s);
    snapshots.at = {};
  }
  pace_ = &pace;
  start_s_ = start_s;
  first_ = iteration();
  loaded_ = loaded_ && done_.total == 0;
  done_ = {};
}

void UndisturbedRun::forget_copies() {
  for (Snapshots& snapshots : snapshots_) snapshots.recent.clear();
}

// Returns the time since the tier's last snapshot started, or since the run did.
double UndisturbedRun::since_s(int tier) const {
  return pace_->elapsed_s(done_, snapshots_[tier].at);
}

int UndisturbedRun::due() const {
  if (loaded_ && done_.total == 0) return 0;
  int set = pace_->due_by_iteration(iteration());
  for (int tier = 0; tier < pace_->tiers(); ++tier) {
    if (!pace_->cadence(tier).is_timed()) continue;
    if (since_s(tier) >= snapshots_[tier].wait_s) set |= 1 << tier;
  }
  return set;
}

bool UndisturbedRun::step(double until_s) {
  const int set = due();
  Steps after = done_;
  ++after.total;
  if (set != 0) ++after.by_set[set];
  pace_->add_pauses(after, iteration(), iteration() + 1);
  if (start_s_ + pace_->elapsed_s(after) > until_s) return false;
  for (int tier = 0; tier < pace_->tiers(); ++tier) {
    if (set >> tier & 1) note_snapshot(tier, iteration(), done_);
  }
  done_ = after;
  return true;
}

void UndisturbedRun::advance(double until_s) {
  while (step(until_s)) {
    if (mode_ == CampaignMode::replay) continue;
    // Jumps to the next iteration in which a timed tier may be due; step() then decides.
    take_jump(
        pace_->iterations_by(until_s, start_s_, done_, iteration(), iterations_until_timed()));
    if (pace_->leaping_tier() != 0) leap(until_s - pace_->leap_guard_s());
  }
}

// Skips whole periods of the leaping tier that end before `until_s` and before another timed tier
// is due. Stops so early (leap_guard_s) that single steps then start all copies that may be needed.
void UndisturbedRun::leap(double until_s) {
  const int tier = std::countr_zero(static_cast<unsigned>(pace_->leaping_tier()));
  const double now = now_s();
  if (now >= until_s) return;
  for (int other = 0; other < pace_->tiers(); ++other) {
    if (other == tier || !pace_->cadence(other).is_timed()) continue;
    // Stops one iteration earlier, so that rounding does not matter.
    until_s =
        std::min(until_s, now + snapshots_[other].wait_s - since_s(other) - pace_->iteration_s());
  }
  if (now + pace_->cadence(tier).every_s > until_s) return;
  if (!(due() >> tier & 1)) return;
  const std::int64_t end = pace_->leaps_until(iteration());
  const auto take = [&](int leap, double end_s) {
    Steps after = done_;
    after += pace_->leap(leap, iteration());
    const std::int64_t next = first_ + after.total;
    // Leaves room before `end` for the last period, which is taken alone (see below).
    if (next > end - (leap == 0 ? 0 : pace_->leap(0, next).total)) return false;
    if (start_s_ + pace_->elapsed_s(after) > end_s) return false;
    if (leap == 0) note_snapshot(tier, iteration(), done_);
    done_ = after;
    return true;
  };
  // The last period is taken alone, so that the start of its copy is known: the copy after it may
  // not be complete when the run ends.
  const double many_until_s = until_s - pace_->longest_period_s();
  int leap = 1;
  while (leap < Pace::kLeaps && take(leap, many_until_s)) ++leap;
  while (--leap > 0) {
    while (take(leap, many_until_s)) continue;
  }
  while (take(0, until_s)) continue;
}

// Whether the last iteration took a snapshot of the leaping tier and of no other timed tier.
bool UndisturbedRun::last_was_leaping() const {
  if (pace_->leaping_tier() == 0) return false;
  for (int tier = 0; tier < pace_->tiers(); ++tier) {
    if (!pace_->cadence(tier).is_timed()) continue;
    const RecentCopies& recent = snapshots_[tier].recent;
    const bool last = recent.size() > 0 && recent.newest(0).iteration == iteration() - 1;
    if (last != bool(pace_->leaping_tier() >> tier & 1)) return false;
  }
  return true;
}

// Returns how many iterations come before the first in which a timed tier is due.
std::int64_t UndisturbedRun::iterations_until_timed() const {
  std::int64_t count = kManyIterations;
  int known = 0;
  if (last_was_leaping()) {
    const std::int64_t period = pace_->leap(0, iteration() - 1).total;
    if (iteration() - 1 + period <= pace_->leaps_until(iteration() - 1)) {
      known = pace_->leaping_tier();
      count = period - 1;
    }
  }
  for (int tier = 0; tier < pace_->tiers(); ++tier) {
    if (known >> tier & 1 || !pace_->cadence(tier).is_timed()) continue;
    Steps since = done_;
    since -= snapshots_[tier].at;
    count = pace_->iterations_before(snapshots_[tier].wait_s, since, iteration(), count);
  }
  return count;
}

void UndisturbedRun::take_jump(std::int64_t count) {
  if (count == 0) return;
  const std::int64_t begin = iteration();
  const std::int64_t end = begin + count;
  const Pace::Ahead ahead(*pace_, done_, begin);
  for (int tier = 0; tier < pace_->tiers(); ++tier) {
    const std::int64_t period = pace_->cadence(tier).every_iterations;
    if (period == 0) continue;
    const std::int64_t last = (end - 1) / period * period;
    const std::int64_t first = (begin + period - 1) / period * period;
    for (std::int64_t at = std::max(first, last - pace_->cadence(tier).kept * period); at <= last;
         at += period) {
      note_snapshot(tier, at, ahead.steps(at - begin));
    }
  }
  done_ = ahead.steps(count);
}

// Returns the interval until the next snapshot of a timed tier. At `now_s` the state before
// `iteration` was saved or loaded.
double UndisturbedRun::interval_s(int tier, double now_s, std::int64_t iteration) const {
  const Cadence& cadence = pace_->cadence(tier);
  if (cadence.rule == nullptr) return cadence.every_s;
  CHECK(ruling_ != nullptr, "nobody notes what the rule '{}' says", cadence.rule->name);
  const double said_s = cadence.rule->every_s({.tier = tier,
                                               .trial = ruling_->trial,
                                               .now_s = now_s,
                                               .training_s = now_s - trains_from_s_,
                                               .iteration = iteration,
                                               .iteration_s = pace_->iteration_s(),
                                               .stall_s = pace_->stall_s(1 << tier),
                                               .complete_s = cadence.complete_s,
                                               .restore_s = cadence.restore_s,
                                               .failures = ruling_->failures,
                                               .mtbf_s = ruling_->mtbf_s});
  if (!(said_s > 0) || !std::isfinite(said_s)) {
    throw Error::about({interval_key(tier)},
                       "the saving rule '{}' returned {} s for tier {} after {} of the campaign; "
                       "it must return a finite number above 0",
                       cadence.rule->name, said_s, tier, format_seconds(now_s));
  }
  ++ruling_->said[tier].asked;
  return std::max(said_s, cadence.complete_s);
}

void UndisturbedRun::note_snapshot(int tier, std::int64_t iteration, const Steps& before) {
  Snapshots& snapshots = snapshots_[tier];
  const double now_s = start_s_ + pace_->elapsed_s(before);
  snapshots.recent.add({iteration, now_s});
  if (!pace_->cadence(tier).is_timed()) return;
  snapshots.at = before;
  if (pace_->cadence(tier).rule != nullptr) {
    ++ruling_->said[tier].snapshots;
    ruling_->said[tier].sum_s += snapshots.every_s;
  }
  snapshots.every_s = interval_s(tier, now_s, iteration);
  snapshots.wait_s = snapshots.every_s;
}

}  // namespace windtunnel

#include "sim/campaign/pace.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace windtunnel {
namespace {

constexpr std::int64_t kMostResidues = 256;  // most entries of a leap: bounds their memory

// Because of rounding a copy may seem to end an ulp after the iteration or period that it fills.
std::int64_t whole_turns(double duration_s, double turn_s) {
  return std::max<std::int64_t>(1, std::llround(std::ceil(duration_s / turn_s - 1e-9)));
}

std::int64_t pause_period(const TrainingPause& pause, double iteration_s) {
  if (pause.every_s <= 0) return pause.every_iterations;
  return std::max<std::int64_t>(1, std::llround(pause.every_s / iteration_s));
}

// Returns the largest count in [0, most] for which fits(value(count)) holds. value rises by `mean`
// per count on average; value(0) is `at_zero`, and it fits. Interpolates, then bisects the rest.
template <class Value, class Fits>
std::int64_t largest_fit(Value value, double at_zero, Fits fits, double limit, double mean,
                         std::int64_t most) {
  std::int64_t fit = 0;
  std::int64_t excess = most + 1;
  if (most == 0) return 0;
  double count = std::floor((limit - at_zero) / mean);
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

double Cadence::training_s(double iteration_s, double stall_s) const {
  if (!is_timed()) return static_cast<double>(every_iterations) * iteration_s;
  return static_cast<double>(whole_turns(every_s - stall_s, iteration_s)) * iteration_s;
}

Steps& Steps::operator+=(const Steps& other) {
  total += other.total;
  for (std::size_t set = 0; set < by_set.size(); ++set) by_set[set] += other.by_set[set];
  for (int kind = 0; kind < kPauses; ++kind) pauses[kind] += other.pauses[kind];
  return *this;
}

Steps& Steps::operator-=(const Steps& other) {
  total -= other.total;
  for (std::size_t set = 0; set < by_set.size(); ++set) by_set[set] -= other.by_set[set];
  for (int kind = 0; kind < kPauses; ++kind) pauses[kind] -= other.pauses[kind];
  return *this;
}

Pace::Pace(const IterationTable& table, double iteration_s, const std::vector<int>& kept)
    : iteration_s_(iteration_s) {
  stall_s_.reserve(table.iteration_s.size());
  for (const double duration_s : table.iteration_s) {
    stall_s_.push_back(std::max(0.0, duration_s - table.iteration_s[0]));
  }
  for (int tier = 0; tier < static_cast<int>(table.tiers.size()); ++tier) {
    cadences_.push_back(cadence_of(table, tier));
    cadences_.back().kept = kept[tier] + cadences_.back().queued;
  }
  for (int set = 1; set < sets(); ++set) {
    for (int tier = 0; tier < tiers(); ++tier) {
      if (set >> tier & 1) stall_s_[set] += cadences_[tier].wait_s;
    }
  }
  for (int kind = 0; kind < kPauses; ++kind) {
    const TrainingPause& pause = kind == 0 ? table.pauses.evaluation : table.pauses.logging;
    pauses_[kind] = {pause_period(pause, table.iteration_s[0]), pause.takes_s};
  }
  set_common_periods();
  set_leaps();
}

Cadence Pace::cadence_of(const IterationTable& table, int tier) const {
  const TierTiming& timing = table.tiers[tier];
  Cadence cadence;
  cadence.complete_s = timing.complete_s;
  cadence.restore_s = timing.restore_s;
  cadence.rule = timing.tier.own.get();
  // Assumes that the iteration with the snapshot has the shortest stall, and that iterations
  // without snapshots follow. In all other cases the copy is also complete in time.
  double own_stall_s = std::numeric_limits<double>::infinity();
  for (int set = 0; set < sets(); ++set) {
    if (set >> tier & 1) own_stall_s = std::min(own_stall_s, stall_s_[set]);
  }
  cadence.every_iterations = timing.tier.every_iterations;
  cadence.every_s = timing.tier.every_s;
  if (timing.tier.every_overhead > 0) {
    // Saves as often as copies complete, unless stalls would then exceed the share `every_overhead`
    // (CheckFreq, Mohan et al., FAST 2021, section 4.2).
    const double stall_s = stall_s_[std::size_t{1} << tier];
    cadence.every_iterations =
        std::max(whole_turns(timing.complete_s - own_stall_s, iteration_s_),
                 whole_turns(stall_s, timing.tier.every_overhead * table.iteration_s[0]));
  }
  if (cadence.is_running()) give_way(timing.tier.when_busy, own_stall_s, cadence);
  return cadence;
}

// If a copy takes longer than the period, lengthens the period or makes training wait. A rule needs
// neither, because its intervals are no shorter than a copy takes.
void Pace::give_way(WhenBusy when_busy, double own_stall_s, Cadence& cadence) const {
  if (cadence.rule != nullptr) return;
  if (when_busy == WhenBusy::skip) {
    cadence.turns = cadence.is_timed()
                        ? whole_turns(cadence.complete_s, cadence.every_s)
                        : (whole_turns(cadence.complete_s - own_stall_s, iteration_s_) +
                           cadence.every_iterations - 1) /
                              cadence.every_iterations;
    cadence.every_iterations *= cadence.turns;
    cadence.every_s *= static_cast<double>(cadence.turns);
    return;
  }
  // The copy to host memory stalls training. In a queue it can overlap the write of the copy before
  // it.
  const bool queues = when_busy == WhenBusy::queue;
  const double busy_s = cadence.complete_s - (queues ? own_stall_s : 0);
  const double period_s = own_stall_s + cadence.training_s(iteration_s_, own_stall_s);
  const double wait_s = busy_s - period_s;
  // Because of rounding a copy may seem to end an ulp after the period that it fills exactly.
  constexpr double kRounding = 1e-9;
  if (wait_s <= kRounding * busy_s) return;
  cadence.wait_s = wait_s;
  if (cadence.is_timed()) cadence.every_s = busy_s * (1 - kRounding);
  if (!queues) return;
  cadence.queued = 1;
  cadence.complete_s = 2 * busy_s;  // a copy waits for the one before it
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
  for (int set = 1; set < sets(); ++set) {
    if ((set & untimed_) == set) untimed_sets_.push_back(set);
  }
  for (int tier = 1; tier < sets(); tier <<= 1) {
    for (const int set : untimed_sets_) {
      if (untimed_ & tier && !(set & tier)) exclusions_.emplace_back(set, set | tier);
    }
  }
  for (const Pause& pause : pauses_) {
    if (pause.every_iterations == 0) continue;
    has_pauses_ = true;
    mean_iteration_s_ += pause.takes_s / static_cast<double>(pause.every_iterations);
  }
  is_even_ = untimed_ == 0 && !has_pauses_;
}

// Returns after how many iterations all that is counted in iterations repeats; 0: too many.
std::int64_t Pace::whole_period() const {
  std::int64_t period = untimed_ == 0 ? 1 : common_period_[untimed_];
  for (const Pause& pause : pauses_) {
    if (pause.every_iterations > 0) period = std::lcm(period, pause.every_iterations);
    if (period > kMostResidues) return 0;
  }
  return period;
}

// leaps_[0][r] has the steps of one period of the leaping tier that begins at an iteration that is
// r modulo the common period of the other tiers; leaps_[k] has those of 2^k such periods.
// Everything repeats modulo the common period. If that is too long to list, a leap ends before the
// next iteration in which a pause or another tier is due.
void Pace::set_leaps() {
  int leaping = -1;
  int kept = 1;
  std::int64_t longest_period = 0;
  const std::int64_t common = whole_period();
  leaps_between_ = common == 0 || common > kMostResidues;
  for (int tier = 0; tier < tiers(); ++tier) {
    const Cadence& cadence = cadences_[tier];
    if (!leaps_between_) longest_period = std::max(longest_period, cadence.every_iterations);
    kept = std::max(kept, cadence.kept);
    if (!cadence.is_timed() || cadence.rule != nullptr) continue;
    if (leaping < 0 || cadence.every_s < cadences_[leaping].every_s) leaping = tier;
  }
  if (leaping < 0) return;
  leaping_tier_ = 1 << leaping;
  const std::int64_t period = leaps_between_ ? 1 : common;
  const double every_s = cadences_[leaping].every_s;
  leaps_.resize(kLeaps, std::vector<Steps>(period));
  for (std::int64_t residue = 0; residue < period; ++residue) {
    Steps& steps = leaps_[0][residue];
    steps.total = 1;
    if (leaps_between_) {
      ++steps.by_set[leaping_tier_];
      steps.total += iterations_before(every_s, Ahead(*this, steps, 1, true), kManyIterations);
      continue;
    }
    ++steps.by_set[due_by_iteration(residue) | leaping_tier_];
    const std::int64_t next = period + residue + 1;  // any iteration >= 1 with this residue
    add_pauses(steps, next - 1, next);
    add_iterations(steps, next, next + iterations_before(every_s, steps, next, kManyIterations));
  }
  for (int leap = 1; leap < kLeaps; ++leap) {
    for (std::int64_t residue = 0; residue < period; ++residue) {
      Steps steps = leaps_[leap - 1][residue];
      steps += leaps_[leap - 1][(residue + steps.total) % period];
      leaps_[leap][residue] = steps;
    }
  }
  double slowest_s = iteration_s_ + *std::max_element(stall_s_.begin(), stall_s_.end());
  for (const Pause& pause : pauses_) slowest_s += pause.takes_s;
  longest_period_s_ = every_s + 2 * slowest_s;
  leap_guard_s_ =
      kept * longest_period_s_ + static_cast<double>((kept + 1) * longest_period + 1) * slowest_s;
}

// If leaps must stop there (leaps_between_), returns the next iteration, from this one on, in which
// a tier by iterations is due or after which a pause follows. Otherwise there is no limit.
std::int64_t Pace::leaps_until(std::int64_t iteration) const {
  if (!leaps_between_) return std::numeric_limits<std::int64_t>::max();
  std::int64_t until = std::numeric_limits<std::int64_t>::max();
  const auto end_by_multiple_of = [&](std::int64_t period) {
    if (period > 0) until = std::min(until, (iteration + period - 1) / period * period);
  };
  for (const Cadence& cadence : cadences_) end_by_multiple_of(cadence.every_iterations);
  for (const Pause& pause : pauses_) end_by_multiple_of(pause.every_iterations);
  return until;
}

double Pace::stalls_s(const Steps& steps, const Steps& before) const {
  double stalls = 0;
  for (int set = 1; set < sets(); ++set) {
    stalls += static_cast<double>(steps.by_set[set] - before.by_set[set]) * stall_s_[set];
  }
  for (int kind = 0; kind < kPauses && has_pauses_; ++kind) {
    stalls += static_cast<double>(steps.pauses[kind] - before.pauses[kind]) * pauses_[kind].takes_s;
  }
  return stalls;
}

void Pace::add_pauses(Steps& steps, std::int64_t first, std::int64_t last) const {
  for (int kind = 0; kind < kPauses && has_pauses_; ++kind) {
    const std::int64_t every = pauses_[kind].every_iterations;
    if (every <= 0) continue;
    const std::int64_t before = std::max<std::int64_t>(0, first - 1);
    steps.pauses[kind] += std::max<std::int64_t>(0, last - 1) / every - before / every;
  }
}

void Pace::add_due(Steps& steps, std::int64_t end, std::int64_t times) const {
  // This is the innermost loop of a campaign, so it divides unsigned numbers, which is faster.
  const auto last = static_cast<std::uint64_t>(end - 1);
  if (last == 0) return;
  for (int kind = 0; kind < kPauses && has_pauses_; ++kind) {
    const auto every = static_cast<std::uint64_t>(pauses_[kind].every_iterations);
    if (every > 0) steps.pauses[kind] += times * static_cast<std::int64_t>(last / every);
  }
  std::array<std::int64_t, 1 << kMaxSnapshotTiers> count;
  for (const int set : untimed_sets_) {
    const auto period = static_cast<std::uint64_t>(common_period_[set]);
    count[set] = period == 0 ? 0 : static_cast<std::int64_t>(last / period);
  }
  for (const auto& [set, more] : exclusions_) count[set] -= count[more];
  for (const int set : untimed_sets_) steps.by_set[set] += times * count[set];
}

void Pace::add_iterations(Steps& steps, std::int64_t first, std::int64_t last) const {
  steps.total += last - first;
  add_due(steps, last, 1);
  add_due(steps, first, -1);
}

Pace::Ahead::Ahead(const Pace& pace, const Steps& done, std::int64_t first, bool even)
    : pace_(pace),
      first_(first),
      even_(even),
      without_due_(done),
      stalls_s_(even ? pace.stalls_s(done, kNoSteps) : 0) {
  if (!even) pace.add_due(without_due_, first, -1);
}

Steps Pace::Ahead::steps(std::int64_t more) const {
  Steps after = without_due_;
  after.total += more;
  if (!even_) pace_.add_due(after, first_ + more, 1);
  return after;
}

double Pace::Ahead::elapsed_s(std::int64_t more) const {
  if (!even_) return pace_.elapsed_s(steps(more));
  return static_cast<double>(without_due_.total + more) * pace_.iteration_s_ + stalls_s_;
}

std::int64_t Pace::iterations_before(double time_s, const Steps& done, std::int64_t first,
                                     std::int64_t most) const {
  return iterations_before(time_s, Ahead(*this, done, first), most);
}

std::int64_t Pace::iterations_before(double time_s, const Ahead& ahead, std::int64_t most) const {
  const auto start_s = [&](std::int64_t more) { return ahead.elapsed_s(more); };
  const auto before = [&](double at_s) { return at_s < time_s; };
  const double now_s = ahead.elapsed_s(0);
  if (!before(now_s)) return 0;
  if (most < kManyIterations && before(start_s(most))) return most;
  // The iteration after `more` iterations starts before the limit, so it counts.
  return std::min(most, 1 + largest_fit(start_s, now_s, before, time_s, mean_iteration_s_, most));
}

std::int64_t Pace::iterations_by(double until_s, double start_s, const Steps& done,
                                 std::int64_t first, std::int64_t most) const {
  const Ahead ahead(*this, done, first);
  const auto end_s = [&](std::int64_t more) { return start_s + ahead.elapsed_s(more); };
  const auto in_time = [&](double end) { return end <= until_s; };
  const double now_s = start_s + elapsed_s(done);
  if (most < kManyIterations && in_time(end_s(most))) return most;
  return largest_fit(end_s, now_s, in_time, until_s, mean_iteration_s_, most);
}

double Pace::training_share() const {
  double wall_s = iteration_s_;
  for (const Pause& pause : pauses_) {
    if (pause.every_iterations == 0) continue;
    wall_s += pause.takes_s / static_cast<double>(pause.every_iterations);
  }
  return iteration_s_ / wall_s;
}

int Pace::due_by_iteration(std::int64_t iteration) const {
  int set = 0;
  for (int tier = 0; tier < tiers(); ++tier) {
    const std::int64_t period = cadences_[tier].every_iterations;
    if (period > 0 && iteration % period == 0) set |= 1 << tier;
  }
  return set;
}

}  // namespace windtunnel

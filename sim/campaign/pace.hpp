// Durations of iterations and times of snapshots in one state of a job: complete, some nodes out,
// or one slow. Time is a function of integers: the numbers of executed iterations, by the set of
// tiers that took a snapshot. Stepping and jumping therefore give bit-identical results.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/reliability/snapshot.hpp"
#include "sim/campaign/campaign.hpp"

namespace windtunnel {

// Kinds of pause, each with the Loss as which it is booked.
inline constexpr int kPauses = 2;
inline constexpr Loss kLossOfPause[kPauses] = {Loss::evaluate, Loss::log};

// Numbers of whole iterations that were executed.
struct Steps {
  std::int64_t total = 0;
  // Iterations in which exactly the tiers of a set took a snapshot; [0], the empty set, is unused.
  std::array<std::int64_t, 1 << kMaxSnapshotTiers> by_set{};
  std::array<std::int64_t, kPauses> pauses{};  // number of pauses of each kind

  Steps& operator+=(const Steps& other);
  Steps& operator-=(const Steps& other);
};

inline constexpr Steps kNoSteps;

// No campaign can have more iterations.
inline constexpr std::int64_t kManyIterations = std::int64_t{1} << 52;

// How often a tier takes a snapshot. If its copy takes longer than its period,
// SnapshotTier::when_busy decides. skip: snapshots follow at the smallest multiple of the period in
// which a copy completes, so `turns` - 1 of `turns` are skipped. block and queue: training waits an
// additional `wait_s` in each iteration that takes a snapshot, so that the next one is due when the
// writer is free. (In reality it waits before the next snapshot; copies, and results of failures,
// are the same.)
struct Cadence {
  std::int64_t every_iterations = 0;  // 0: by time
  double every_s = 0;                 // 0 with every_iterations 0: never, or by `rule`
  const SavingRule* rule = nullptr;
  std::int64_t turns = 1;
  double wait_s = 0;
  int queued = 0;  // copies that wait while one is written
  double complete_s = 0;
  double restore_s = 0;
  int kept = 1;  // number of complete copies that may be needed
  bool is_timed() const { return every_s > 0 || rule != nullptr; }
  bool is_running() const { return is_timed() || every_iterations > 0; }
  // Returns the training time between two snapshots, each of which stalls training for `stall_s`:
  // whole iterations, at least one. A rule has no fixed interval and counts as one iteration.
  double training_s(double iteration_s, double stall_s) const;
};

class Pace {
 public:
  // Iterations without snapshots take `iteration_s`. Stalls are from the table. `kept`: by tier.
  Pace(const IterationTable& table, double iteration_s, const std::vector<int>& kept);

  int tiers() const { return static_cast<int>(cadences_.size()); }
  int sets() const { return static_cast<int>(stall_s_.size()); }
  const Cadence& cadence(int tier) const { return cadences_[tier]; }
  double iteration_s() const { return iteration_s_; }
  double stall_s(int set) const { return stall_s_[set]; }
  double pause_s(int kind) const { return pauses_[kind].takes_s; }

  // Returns the time that `steps` take without the first of them, `before`.
  double elapsed_s(const Steps& steps, const Steps& before = kNoSteps) const {
    return static_cast<double>(steps.total - before.total) * iteration_s_ + stalls_s(steps, before);
  }
  // Adds iterations first .. last-1 (first >= 1), with snapshots only of tiers due by iteration.
  void add_iterations(Steps& steps, std::int64_t first, std::int64_t last) const;
  // Returns the number of iterations from `first` on, after the steps `done`, that start within
  // `time_s` of the start of `done`; at most `most`.
  std::int64_t iterations_before(double time_s, const Steps& done, std::int64_t first,
                                 std::int64_t most) const;
  // Returns the number of iterations, at most `most`, that end within until_s - start_s.
  std::int64_t iterations_by(double until_s, double start_s, const Steps& done, std::int64_t first,
                             std::int64_t most) const;
  // The steps after any number of iterations from `first` on, as add_iterations() counts them.
  class Ahead;
  // Returns the share of time without failures and snapshots that is not pauses.
  double training_share() const;
  // Counts the pauses after iterations first .. last-1. Iteration 0 has none.
  void add_pauses(Steps& steps, std::int64_t first, std::int64_t last) const;
  // Returns the set of tiers that are due by iteration at this iteration.
  int due_by_iteration(std::int64_t iteration) const;

  // While no other timed tier is due, the periods of one tier repeat, so 2^leap of them can be
  // taken at once. A leap starts at an iteration in which the tier is due, and ends no later than
  // leaps_until() of that iteration. leaping_tier() is the timed tier with the shortest period (as
  // a set; 0: no leaps).
  static constexpr int kLeaps = 12;
  int leaping_tier() const { return leaping_tier_; }
  std::int64_t leaps_until(std::int64_t iteration) const;
  const Steps& leap(int leap, std::int64_t iteration) const {
    return leaps_[leap][iteration % static_cast<std::int64_t>(leaps_[leap].size())];
  }
  // No period of the leaping tier takes longer than this.
  double longest_period_s() const { return longest_period_s_; }
  // Within this time the leaping tier and the tiers by iteration start every snapshot that a
  // restart may still need.
  double leap_guard_s() const { return leap_guard_s_; }

 private:
  Cadence cadence_of(const IterationTable& table, int tier) const;
  void give_way(WhenBusy when_busy, double own_stall_s, Cadence& cadence) const;
  std::int64_t iterations_before(double time_s, const Ahead& ahead, std::int64_t most) const;
  double stalls_s(const Steps& steps, const Steps& before) const;
  // Adds `times` times the pauses and the snapshots due by iteration in iterations 1 .. end-1.
  void add_due(Steps& steps, std::int64_t end, std::int64_t times) const;
  void set_common_periods();
  std::int64_t whole_period() const;
  void set_leaps();

  struct Pause {
    std::int64_t every_iterations = 0;  // 0: never
    double takes_s = 0;
  };

  double iteration_s_;
  double mean_iteration_s_;  // without snapshots of timed tiers
  std::array<Pause, kPauses> pauses_;
  bool has_pauses_ = false;
  bool is_even_ = true;          // there are neither tiers by iteration nor pauses
  std::vector<double> stall_s_;  // by set of tiers
  std::vector<Cadence> cadences_;
  // By set of tiers: all are due at multiples of this number of iterations; 0: never.
  std::vector<std::int64_t> common_period_;
  int untimed_ = 0;                // the set of tiers by iteration
  std::vector<int> untimed_sets_;  // subsets of `untimed_`, ascending
  // Pairs of these sets; the second has one tier more. If its counts are subtracted from those of
  // the first, in this order, "at least these tiers" becomes "exactly these tiers".
  std::vector<std::pair<int, int>> exclusions_;
  int leaping_tier_ = 0;
  double longest_period_s_ = 0;
  double leap_guard_s_ = 0;
  std::vector<std::vector<Steps>> leaps_;  // [leap][iteration modulo the common period]
  // The common period is too long to list, so leaps_ has one entry, and a leap ends before the next
  // pause or tier by iterations.
  bool leaps_between_ = false;
};

class Pace::Ahead {
 public:
  Ahead(const Pace& pace, const Steps& done, std::int64_t first)
      : Ahead(pace, done, first, pace.is_even_) {}
  // `even`: calculates as if there were neither tiers by iteration nor pauses.
  Ahead(const Pace& pace, const Steps& done, std::int64_t first, bool even);

  Steps steps(std::int64_t more) const;
  double elapsed_s(std::int64_t more) const;

 private:
  const Pace& pace_;
  std::int64_t first_;
  bool even_;
  Steps without_due_;  // `done` without what was due before `first`
  double stalls_s_;    // stalls, if `even`: they do not change
};

}  // namespace windtunnel

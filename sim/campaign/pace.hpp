// Durations of iterations and times of snapshots in one state of a job: complete, some nodes out,
// or one slow. Time is a function of integers, the numbers of executed iterations by set of tiers
// that took a snapshot; stepping and jumping therefore give bit-identical results.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/reliability/snapshot.hpp"
#include "sim/campaign/campaign.hpp"

namespace windtunnel {

// Kinds of pause, and the Loss that each is booked as.
inline constexpr int kPauses = 2;
inline constexpr Loss kLossOfPause[kPauses] = {Loss::evaluate, Loss::log};

// Whole iterations executed.
struct Steps {
  std::int64_t total = 0;
  // Iterations in which exactly the tiers of the set took a snapshot; [0], the empty set, is
  // unused.
  std::array<std::int64_t, 1 << kMaxSnapshotTiers> by_set{};
  std::array<std::int64_t, kPauses> pauses{};  // number of pauses, by kind

  Steps& operator+=(const Steps& other);
  Steps& operator-=(const Steps& other);
};

inline constexpr Steps kNoSteps;

// No campaign can have more iterations.
inline constexpr std::int64_t kManyIterations = std::int64_t{1} << 52;

// The cadence of a tier. If its copy takes longer than its period, SnapshotTier::when_busy applies.
// skip: it runs at the smallest multiple of the period in which the copy completes, so `turns` - 1
// of `turns` are skipped. block and queue: training waits an additional `wait_s` in each iteration
// that takes a snapshot, so that the next is due when the writer is free. (In reality it waits
// before the next snapshot; copies, and results of failures, are the same.)
struct Cadence {
  std::int64_t every_iterations = 0;  // 0: by time
  double every_s = 0;                 // 0 as well: never, or by `rule`
  const SavingRule* rule = nullptr;
  std::int64_t turns = 1;
  double wait_s = 0;
  int queued = 0;  // copies that wait while one is written
  double complete_s = 0;
  double restore_s = 0;
  int kept = 1;  // number of complete copies that may be needed
  bool is_timed() const { return every_s > 0 || rule != nullptr; }
  bool is_running() const { return is_timed() || every_iterations > 0; }
  // Training time between two snapshots, each of which stalls training for stall_s: whole
  // iterations, at least one. A rule has no interval and counts as one iteration.
  double training_s(double iteration_s, double stall_s) const;
};

class Pace {
 public:
  // Iterations without snapshots take iteration_s; stalls are from the table. `kept`: by tier.
  Pace(const IterationTable& table, double iteration_s, const std::vector<int>& kept);

  int tiers() const { return static_cast<int>(cadences_.size()); }
  int sets() const { return static_cast<int>(stall_s_.size()); }
  const Cadence& cadence(int tier) const { return cadences_[tier]; }
  double iteration_s() const { return iteration_s_; }
  double stall_s(int set) const { return stall_s_[set]; }
  double pause_s(int kind) const { return pauses_[kind].takes_s; }

  // The time that `steps` take after the first part of them, `before`.
  double elapsed_s(const Steps& steps, const Steps& before = kNoSteps) const {
    return static_cast<double>(steps.total - before.total) * iteration_s_ + stalls_s(steps, before);
  }
  // Adds iterations first .. last-1 (first >= 1), with snapshots only of tiers due by iteration.
  void add_iterations(Steps& steps, std::int64_t first, std::int64_t last) const;
  // The number of iterations from `first` on, after the steps `done`, that start within `time_s` of
  // the start of `done`; at most `most`.
  std::int64_t iterations_before(double time_s, const Steps& done, std::int64_t first,
                                 std::int64_t most) const;
  // The number of them, at most `most`, that end within until_s - start_s.
  std::int64_t iterations_by(double until_s, double start_s, const Steps& done, std::int64_t first,
                             std::int64_t most) const;
  // The steps after any number of iterations from `first` on, counted as add_iterations() does.
  class Ahead;
  // The share of training time that is not pauses, without failures and snapshots.
  double training_share() const;
  // Counts the pauses after iterations first .. last-1; there is none after iteration 0.
  void add_pauses(Steps& steps, std::int64_t first, std::int64_t last) const;
  // The set of tiers due by iteration at this one.
  int due_by_iteration(std::int64_t iteration) const;

  // While no other timed tier is due, the periods of one tier repeat, so 2^leap of them can be
  // taken at once. A leap starts at an iteration in which the tier is due, and ends no later than
  // leaps_until() of that iteration. leaping_tier(): the tier with the shortest period (as a set;
  // 0: no leaps).
  static constexpr int kLeaps = 12;
  int leaping_tier() const { return leaping_tier_; }
  std::int64_t leaps_until(std::int64_t iteration) const;
  const Steps& leap(int leap, std::int64_t iteration) const {
    return leaps_[leap][iteration % static_cast<std::int64_t>(leaps_[leap].size())];
  }
  // No period of the leaping tier takes longer.
  double longest_period_s() const { return longest_period_s_; }
  // In this much time the leaping tier and the tiers by iteration start every snapshot that a
  // restart may still need.
  double leap_guard_s() const { return leap_guard_s_; }

 private:
  Cadence cadence_of(const IterationTable& table, int tier) const;
  void give_way(WhenBusy when_busy, double own_stall_s, Cadence& cadence) const;
  std::int64_t iterations_before(double time_s, const Ahead& ahead, std::int64_t most) const;
  double stalls_s(const Steps& steps, const Steps& before) const;
  // Adds `times` times the pauses and the snapshots due by iteration of iterations 1 .. end-1.
  void add_due(Steps& steps, std::int64_t end, std::int64_t times) const;
  void set_common_periods();
  std::int64_t whole_period() const;
  void set_leaps();

  struct Pause {
    std::int64_t every_iterations = 0;  // 0: never
    double takes_s = 0;
  };

  double iteration_s_;
  double mean_iteration_s_;  // without timed tiers
  std::array<Pause, kPauses> pauses_;
  bool has_pauses_ = false;
  bool is_even_ = true;          // there are neither tiers by iteration nor pauses
  std::vector<double> stall_s_;  // by set
  std::vector<Cadence> cadences_;
  // By set: all its tiers are due at multiples of this iteration number; 0: never.
  std::vector<std::int64_t> common_period_;
  int untimed_ = 0;                // the set of tiers by iteration
  std::vector<int> untimed_sets_;  // subsets of `untimed_`, ascending
  // Pairs of these sets, the second with one tier more. Subtracting the counts of the second from
  // those of the first in this order turns "at least these tiers" into "exactly these tiers".
  std::vector<std::pair<int, int>> exclusions_;
  int leaping_tier_ = 0;
  double longest_period_s_ = 0;
  double leap_guard_s_ = 0;
  std::vector<std::vector<Steps>> leaps_;  // by leap, and iteration modulo the common period
  // That period is too long to list: leaps_ has one entry, and a leap ends before the next pause or
  // tier by iterations.
  bool leaps_between_ = false;
};

class Pace::Ahead {
 public:
  Ahead(const Pace& pace, const Steps& done, std::int64_t first)
      : Ahead(pace, done, first, pace.is_even_) {}
  // `even`: as if there were neither tiers by iteration nor pauses.
  Ahead(const Pace& pace, const Steps& done, std::int64_t first, bool even);

  Steps steps(std::int64_t more) const;
  double elapsed_s(std::int64_t more) const;

 private:
  const Pace& pace_;
  std::int64_t first_;
  bool even_;
  Steps without_due_;  // `done` without what is due before `first`
  double stalls_s_;    // (even) they do not change
};

}  // namespace windtunnel

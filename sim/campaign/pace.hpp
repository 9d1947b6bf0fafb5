// How long iterations take and when snapshots are due in one state of a job: all nodes there, some
// out, one slow. Time is a function of integers, the numbers of iterations executed by the set of
// tiers that took a snapshot in them; stepping one by one and jumping therefore give the same bits.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/reliability/snapshot.hpp"
#include "sim/campaign/campaign.hpp"

namespace windtunnel {

// Kinds of pause, and what each is booked as.
inline constexpr int kPauses = 2;
inline constexpr Loss kLossOfPause[kPauses] = {Loss::evaluate, Loss::log};

// Whole iterations executed.
struct Steps {
  std::int64_t total = 0;
  // Iterations in which exactly the tiers of the set took a snapshot; [0], none, is not kept.
  std::array<std::int64_t, 1 << kMaxSnapshotTiers> by_set{};
  std::array<std::int64_t, kPauses> pauses{};  // behind them, by kind

  Steps& operator+=(const Steps& other);
  Steps& operator-=(const Steps& other);
};

// More iterations than a campaign can have.
inline constexpr std::int64_t kManyIterations = std::int64_t{1} << 52;

// The cadence of a tier. Where its copy takes longer than its period, SnapshotTier::when_busy says
// what gives way. skip: it runs at the smallest multiple of the period in which the copy completes,
// `turns` - 1 of `turns` are skipped. block and queue: training waits `wait_s` besides in each
// iteration that takes it, so that the next falls due when the writer is free. (In truth it waits
// before the next one; copies, and what failures leave, are the same.)
struct Cadence {
  std::int64_t every_iterations = 0;  // 0: by time
  double every_s = 0;                 // 0 as well: never, or by `rule`
  const SavingRule* rule = nullptr;
  std::int64_t turns = 1;
  double wait_s = 0;
  int queued = 0;  // copies that wait behind the one that is written
  double complete_s = 0;
  double restore_s = 0;
  int kept = 1;  // complete copies that may be asked for
  bool is_timed() const { return every_s > 0 || rule != nullptr; }
  bool is_running() const { return is_timed() || every_iterations > 0; }
  // Training time between two snapshots, each of which stalls it for stall_s: whole iterations, at
  // least one. A rule has no interval; for it this is one iteration, the least.
  double training_s(double iteration_s, double stall_s) const;
};

class Pace {
 public:
  // Iterations without snapshots take iteration_s; stalls are those of the table. `kept`: by tier.
  Pace(const IterationTable& table, double iteration_s, const std::vector<int>& kept);

  int tiers() const { return static_cast<int>(cadences_.size()); }
  int sets() const { return static_cast<int>(stall_s_.size()); }
  const Cadence& cadence(int tier) const { return cadences_[tier]; }
  double iteration_s() const { return iteration_s_; }
  double stall_s(int set) const { return stall_s_[set]; }
  double pause_s(int kind) const { return pauses_[kind].takes_s; }

  double elapsed_s(const Steps& steps) const;
  // Adds iterations first .. last-1 (first >= 1) in which only tiers due by iteration take
  // snapshots.
  void add_iterations(Steps& steps, std::int64_t first, std::int64_t last) const;
  // How many of the iterations from `first` on, after `done`, start when less than `time_s` has
  // elapsed; at most `most`.
  std::int64_t iterations_before(double time_s, const Steps& done, std::int64_t first,
                                 std::int64_t most) const;
  // How many of them, at most `most`, end when at most until_s - start_s has elapsed.
  std::int64_t iterations_by(double until_s, double start_s, const Steps& done, std::int64_t first,
                             std::int64_t most) const;
  // The share of undisturbed time, without failures and snapshots, that pauses leave for training.
  double training_share() const;
  // Counts the pauses behind iterations first .. last-1; there is none behind iteration 0.
  void add_pauses(Steps& steps, std::int64_t first, std::int64_t last) const;
  // Tiers due by iteration at this one.
  int due_by_iteration(std::int64_t iteration) const;

  // While no other timed tier is due, what the periods of one hold repeats, so 2^leap of them can
  // be taken at once from an iteration in which it is due. The tier with the shortest period (as a
  // set; 0: no leaps), and the steps.
  static constexpr int kLeaps = 12;
  int leaping_tier() const { return leaping_tier_; }
  const Steps& leap(int leap, std::int64_t iteration) const {
    return leaps_[leap][iteration % static_cast<std::int64_t>(leaps_[leap].size())];
  }
  // No period of that tier is longer.
  double longest_period_s() const { return longest_period_s_; }
  // In this time that tier and those by iterations start all snapshots that may be asked for.
  double leap_guard_s() const { return leap_guard_s_; }

 private:
  Cadence cadence_of(const IterationTable& table, int tier) const;
  void give_way(WhenBusy when_busy, double own_stall_s, Cadence& cadence) const;
  class Ahead;
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
  bool is_even_ = true;          // neither tiers by iterations nor pauses
  std::vector<double> stall_s_;  // by set
  std::vector<Cadence> cadences_;
  // By set: the iterations at which all of its tiers are due are the multiples of this; 0: never.
  std::vector<std::int64_t> common_period_;
  int untimed_ = 0;                // the set of tiers by iterations
  std::vector<int> untimed_sets_;  // of its tiers, ascending
  int leaping_tier_ = 0;
  double longest_period_s_ = 0;
  double leap_guard_s_ = 0;
  std::vector<std::vector<Steps>> leaps_;  // by leap and iteration modulo the common period
};

}  // namespace windtunnel

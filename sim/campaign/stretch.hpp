// An undisturbed stretch of training: iterations and the snapshots due in them, until something
// happens. Time within a stretch is a function of integers, the numbers of iterations executed by
// the set of tiers that took a snapshot in them; stepping one by one and jumping therefore give the
// same bits.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/snapshot.hpp"
#include "sim/campaign/campaign.hpp"

namespace windtunnel {

// Whole iterations executed.
struct Steps {
  std::int64_t total = 0;
  // Those in which exactly the tiers of the set took a snapshot; [0], none, is not kept.
  std::array<std::int64_t, 1 << kMaxSnapshotTiers> by_set{};

  Steps& operator+=(const Steps& other);
  Steps& operator-=(const Steps& other);
};

// The cadence of a tier. A tier whose copy takes longer than its period runs at the smallest
// multiple of the period in which the copy completes: `turns` - 1 of `turns` are skipped.
struct Cadence {
  std::int64_t every_iterations = 0;  // 0: by time
  double every_s = 0;
  std::int64_t turns = 1;
  double complete_s = 0;
};

// How long iterations take and when snapshots are due, with `missing_nodes` nodes out.
class Pace {
 public:
  Pace(const IterationTable& table, int missing_nodes);

  int tiers() const { return static_cast<int>(cadences_.size()); }
  int sets() const { return static_cast<int>(stall_s_.size()); }
  const Cadence& cadence(int tier) const { return cadences_[tier]; }
  double iteration_s() const { return iteration_s_; }
  double stall_s(int set) const { return stall_s_[set]; }
  double mean_iteration_s() const { return mean_iteration_s_; }  // without timed tiers

  double elapsed_s(const Steps& steps) const;
  // The same after first .. last-1 more, as of add_iterations().
  double elapsed_s(Steps steps, std::int64_t first, std::int64_t last) const;
  // Adds iterations first .. last-1 (first >= 1) in which only tiers due by iteration take
  // snapshots.
  void add_iterations(Steps& steps, std::int64_t first, std::int64_t last) const;
  // How many of the iterations from `first` on, after `done`, start when less than `time_s` has
  // elapsed; at most `most`.
  std::int64_t iterations_before(double time_s, const Steps& done, std::int64_t first,
                                 std::int64_t most) const;
  // Tiers due by iteration at this one.
  int due_by_iteration(std::int64_t iteration) const;

  // With one timed tier, what its periods hold repeats, so 2^leap of them can be taken at once from
  // an iteration in which it is due. Which tier (as a set; 0: no leaps), and the steps.
  static constexpr int kLeaps = 12;
  int leaping_tier() const { return leaping_tier_; }
  const Steps& leap(int leap, std::int64_t iteration) const {
    return leaps_[leap][iteration % static_cast<std::int64_t>(leaps_[leap].size())];
  }
  // In this time every tier starts a snapshot, the timed one two.
  double leap_guard_s() const { return leap_guard_s_; }

 private:
  void set_cadences(const IterationTable& table);
  void set_common_periods();
  void set_leaps();

  double iteration_s_;
  double mean_iteration_s_;
  std::vector<double> stall_s_;  // by set
  std::vector<Cadence> cadences_;
  // By set: the iterations at which all of its tiers are due are the multiples of this; 0: never.
  std::vector<std::int64_t> common_period_;
  int untimed_ = 0;  // the set of tiers by iterations
  int leaping_tier_ = 0;
  double leap_guard_s_ = 0;
  std::vector<std::vector<Steps>> leaps_;  // by leap and iteration modulo the common period
};

// From a (re)start to the next event. A tier by iterations is due at the multiples of its period
// after the first iteration of the stretch, whose state has just been loaded; a tier by time at the
// first iteration that starts every_s or more after its last start, or after the (re)start.
class Stretch {
 public:
  // `pace` must outlive the stretch.
  Stretch(const Pace& pace, CampaignMode mode, double start_s, std::int64_t first_iteration);

  // Executes the iterations that end by `until_s`.
  void advance(double until_s);
  // Executes one iteration if it ends by `until_s`; whether it did.
  bool step(double until_s);

  double now_s() const { return start_s_ + pace_->elapsed_s(done_); }  // end of the last iteration
  std::int64_t iteration() const { return first_ + done_.total; }      // the next one
  const Steps& done() const { return done_; }

  // The newest state that the tier can restore at `at_s` >= now_s(); negative: none of this
  // stretch. `running`: the next iteration, with its snapshots, has started at now_s().
  std::int64_t newest_complete(int tier, double at_s, bool running) const;

 private:
  struct Snapshots {
    std::int64_t last = -1;      // iteration at whose start the newest was started
    std::int64_t previous = -1;  // the one before; complete, as its successor has started
    Steps at;                    // done before `last`; all zero if none: timers run from the start
  };

  int due() const;
  void leap(double until_s);
  void note_snapshot(int tier, std::int64_t iteration, const Steps& before);
  std::int64_t iterations_until_timed() const;
  std::int64_t iterations_by(double until_s, std::int64_t most) const;
  void take_jump(std::int64_t count);

  const Pace* pace_;
  CampaignMode mode_;
  double start_s_;
  std::int64_t first_;
  Steps done_;
  std::array<Snapshots, kMaxSnapshotTiers> snapshots_;
};

}  // namespace windtunnel

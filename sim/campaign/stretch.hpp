// An undisturbed stretch of training: iterations and the snapshots due in them, until something
// happens. Time within a stretch is a function of integers, the numbers of iterations executed by
// the set of tiers that took a snapshot in them; stepping one by one and jumping therefore give the
// same bits.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/campaign/campaign.hpp"

namespace windtunnel {

inline constexpr int kMaxTiers = 4;

// Whole iterations executed.
struct Steps {
  std::int64_t total = 0;
  // Those in which exactly the tiers of the set took a snapshot; [0], none, is not kept.
  std::array<std::int64_t, 1 << kMaxTiers> by_set{};

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

// How long iterations take and when snapshots are due, with `missing_replicas` replicas missing.
class Pace {
 public:
  Pace(const IterationTable& table, int missing_replicas);

  int tiers() const { return static_cast<int>(cadences_.size()); }
  int sets() const { return static_cast<int>(stall_s_.size()); }
  const Cadence& cadence(int tier) const { return cadences_[tier]; }
  double iteration_s() const { return iteration_s_; }
  double stall_s(int set) const { return stall_s_[set]; }
  double mean_iteration_s() const { return mean_iteration_s_; }  // without timed tiers

  double elapsed_s(const Steps& steps) const;
  // Iterations first .. last-1 (first >= 1) when only the tiers due by iteration take snapshots.
  Steps steps_between(std::int64_t first, std::int64_t last) const;
  // Tiers due by iteration at this one.
  int due_by_iteration(std::int64_t iteration) const;

 private:
  void set_cadences(const IterationTable& table);
  void set_common_periods();

  double iteration_s_;
  double mean_iteration_s_;
  std::vector<double> stall_s_;  // by set
  std::vector<Cadence> cadences_;
  // By set: the iterations at which all of its tiers are due are the multiples of this; 0: never.
  std::vector<std::int64_t> common_period_;
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
  std::int64_t iterations_until_timed() const;
  std::int64_t iterations_by(double until_s) const;
  void take_jump(std::int64_t count);

  const Pace* pace_;
  CampaignMode mode_;
  double start_s_;
  std::int64_t first_;
  Steps done_;
  std::array<Snapshots, kMaxTiers> snapshots_;
};

}  // namespace windtunnel

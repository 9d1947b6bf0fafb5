// An undisturbed run of training: iterations and the snapshots due in them, until something
// happens.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "sim/campaign/pace.hpp"

namespace windtunnel {

// A snapshot that was started: the state at the start of this iteration.
struct StartedCopy {
  std::int64_t iteration = -1;
  double start_s = 0;
};

// The newest that were started of one tier.
class RecentCopies {
 public:
  int size() const { return size_; }
  // back = 0: the newest.
  const StartedCopy& newest(int back) const { return copies_[(next_ + kRoom - 1 - back) % kRoom]; }
  void add(const StartedCopy& copy) {
    copies_[next_] = copy;
    next_ = (next_ + 1) % kRoom;
    if (size_ < kRoom) ++size_;
  }
  void clear() { size_ = 0; }

 private:
  static constexpr int kRoom = kMostKeptCopies + 2;  // complete, under way, and in a queue behind
  std::array<StartedCopy, kRoom> copies_;
  int next_ = 0;
  int size_ = 0;
};

// What one trial tells the rules of when to save, besides what the run knows, and what they
// answered.
struct Ruling {
  int trial = 0;
  std::int64_t failures = 0;  // unexpected failures so far, fatal or not
  double mtbf_s = 0;
  std::array<RuledIntervals, kMaxSnapshotTiers> said{};
};

// From a (re)start to the next event. A tier by iterations is due at the multiples of its period
// after the first iteration of the run, whose state has just been loaded; a tier by time at the
// first iteration that starts every_s or more after its last start, or after the (re)start; a rule
// says so then each time anew, and no less than the copy takes to complete.
class UndisturbedRun {
 public:
  // `pace` and `ruling`, which tiers with rules need, must outlive the run.
  UndisturbedRun(const Pace& pace, CampaignMode mode, double start_s, std::int64_t first_iteration,
                 Ruling* ruling = nullptr);

  // The job goes on at another pace from start_s on, without a restart: periods run on.
  void go_on(const Pace& pace, double start_s);
  // Forgets incomplete copies, which will never be completed. Called after complete copies were
  // asked for.
  void forget_copies();

  // Executes the iterations that end by `until_s`.
  void advance(double until_s);
  // Executes one iteration if it ends by `until_s`; whether it did.
  bool step(double until_s);

  double now_s() const { return start_s_ + pace_->elapsed_s(done_); }  // end of the last iteration
  std::int64_t iteration() const { return first_ + done_.total; }      // the next one
  const Steps& done() const { return done_; }  // steps since the run started or resumed

  // The complete copies of the tier at `at_s` >= now_s(), oldest first, no more than it keeps.
  // `running`: the next iteration, with its snapshots, has started at now_s().
  template <class Take>
  void complete_copies(int tier, double at_s, bool running, Take take) const {
    const double complete_s = pace_->cadence(tier).complete_s;
    const RecentCopies& recent = snapshots_[tier].recent;
    for (int back = std::min(recent.size() - 1, pace_->cadence(tier).kept); back >= 0; --back) {
      // The cadence starts none before the last is complete, or the one before it.
      const StartedCopy& copy = recent.newest(back);
      const bool through = back > pace_->cadence(tier).queued;
      if (through || copy.start_s + complete_s <= at_s) take(copy);
    }
    if (running && (due() >> tier & 1) && now_s() + complete_s <= at_s) {
      take(StartedCopy{iteration(), now_s()});
    }
  }

 private:
  struct Snapshots {
    RecentCopies recent;
    double every_s = 0;  // tiers saved by time: from one start to the next
    double wait_s = 0;   // tiers saved by time: from `at` until the next snapshot is due
    Steps at;            // steps done before the newest snapshot; all zero: there is none
  };

  int due() const;
  double since_s(int tier) const;
  bool last_was_leaping() const;
  void leap(double until_s);
  double interval_s(int tier, double now_s, std::int64_t iteration) const;
  void note_snapshot(int tier, std::int64_t iteration, const Steps& before);
  std::int64_t iterations_until_timed() const;
  void take_jump(std::int64_t count);

  const Pace* pace_;
  CampaignMode mode_;
  Ruling* ruling_;
  double trains_from_s_;  // since when nothing stopped it
  double start_s_;
  std::int64_t first_;
  bool loaded_ = true;  // the first iteration's state has just been loaded
  Steps done_;
  std::array<Snapshots, kMaxSnapshotTiers> snapshots_;
};

}  // namespace windtunnel

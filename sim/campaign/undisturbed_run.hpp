// A run of training without events: iterations, and the snapshots due in them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "sim/campaign/pace.hpp"

namespace windtunnel {

// A snapshot that has started: of the state at the start of this iteration.
struct StartedCopy {
  std::int64_t iteration = -1;
  double start_s = 0;
};

// The copies of one tier that started last.
class RecentCopies {
 public:
  int size() const { return size_; }
  // `back` 0: the newest.
  const StartedCopy& newest(int back) const { return copies_[(next_ + kRoom - 1 - back) % kRoom]; }
  void add(const StartedCopy& copy) {
    copies_[next_] = copy;
    next_ = (next_ + 1) % kRoom;
    if (size_ < kRoom) ++size_;
  }
  void clear() { size_ = 0; }

 private:
  // those that are complete, one in progress, and one in the queue
  static constexpr int kRoom = kMostKeptCopies + 2;
  std::array<StartedCopy, kRoom> copies_;
  int next_ = 0;
  int size_ = 0;
};

// What a trial tells the saving rules in addition to what the run knows, and what they answered.
struct Ruling {
  int trial = 0;
  std::int64_t failures = 0;  // unexpected failures so far, also those that stopped nothing
  double mtbf_s = 0;
  std::array<RuledIntervals, kMaxSnapshotTiers> said{};
};

// A run from a start or restart to the next event. The state of its first iteration has just been
// loaded. A tier by iterations is due at later multiples of its period. A tier by time is due at
// the first iteration that starts at least every_s after its last snapshot started, or after the
// run did. A rule returns this time anew at each snapshot; it is no shorter than a copy takes.
class UndisturbedRun {
 public:
  // `pace` must outlive the run, and so must `ruling`, which is needed if tiers have rules.
  UndisturbedRun(const Pace& pace, CampaignMode mode, double start_s, std::int64_t first_iteration,
                 Ruling* ruling = nullptr);

  // The job goes on at another pace from `start_s` on without a restart: periods go on, too.
  void go_on(const Pace& pace, double start_s);
  // Forgets incomplete copies, which will never be complete. Must be called after the complete
  // copies have been taken.
  void forget_copies();

  // Executes the iterations that end by `until_s`.
  void advance(double until_s);
  // Executes one iteration if it ends by `until_s`. Returns whether it did.
  bool step(double until_s);

  double now_s() const { return start_s_ + pace_->elapsed_s(done_); }  // end of the last iteration
  std::int64_t iteration() const { return first_ + done_.total; }      // the next one
  const Steps& done() const { return done_; }  // steps since the run started or resumed

  // Calls take(tier, copy) for the copies that are complete at `at_s` >= now_s(): for each tier the
  // oldest first, and at most as many as the tier keeps. `running`: the next iteration, with its
  // snapshots, has started at now_s().
  template <class Take>
  void complete_copies(double at_s, bool running, Take take) const {
    const int started = running ? due() : 0;
    for (int tier = 0; tier < pace_->tiers(); ++tier) {
      const Cadence& cadence = pace_->cadence(tier);
      const RecentCopies& recent = snapshots_[tier].recent;
      for (int back = std::min(recent.size() - 1, cadence.kept); back >= 0; --back) {
        // A copy starts only when the previous one (in a queue, the one before that) is complete.
        const StartedCopy& copy = recent.newest(back);
        const bool through = back > cadence.queued;
        if (through || copy.start_s + cadence.complete_s <= at_s) take(tier, copy);
      }
      if ((started >> tier & 1) && now_s() + cadence.complete_s <= at_s) {
        take(tier, StartedCopy{iteration(), now_s()});
      }
    }
  }

 private:
  struct Snapshots {
    RecentCopies recent;
    double every_s = 0;  // of tiers by time: from one start to the next
    double wait_s = 0;   // of tiers by time: from `at` until the next snapshot is due
    Steps at;            // of tiers by time: steps before the newest one; all zero: there is none
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
  double trains_from_s_;  // since when it has trained without interruption
  double start_s_;
  std::int64_t first_;
  bool loaded_ = true;  // the state of the first iteration has just been loaded
  Steps done_;
  std::array<Snapshots, kMaxSnapshotTiers> snapshots_;
};

}  // namespace windtunnel

// The copies that a job's tiers can restore, and what failures destroy. A copy exists if the tier
// keeps it, if its trainers and keepers are alive or not needed, and if no group has lost more
// nodes since the copy's start than the tier's code tolerates.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/campaign/campaign_plan.hpp"
#include "sim/campaign/undisturbed_run.hpp"

namespace windtunnel {

class Copies {
 public:
  // `plan` must outlive it.
  explicit Copies(const CampaignPlan& plan);

  // Takes over the run's complete copies; see UndisturbedRun::complete_copies. `out`: nodes that
  // its layout lacks.
  void collect(const UndisturbedRun& run, double at_s, bool running, int out);
  void add(int tier, const StartedCopy& copy, int out);
  void add_if_newer(int tier, const StartedCopy& copy, int out);
  // GPUs of all nodes except these hold this state until the trainers end; a restarting job holds
  // none until it trains.
  void hold(const StartedCopy& live, const std::vector<int>& empty_slots, int out);

  void lose_node(int slot, double at_s);
  void lose_gpus(int slot);
  // A checksum failed: this slot's part of the tier is lost.
  void lose_part(int tier, int slot, double at_s) { lose_slot(tier, slot, at_s); }
  // The keeper process of one rank in this slot died. A tier with a code loses this slot's part; a
  // tier without one loses its copies in end_trainers().
  void lose_keeper(int slot, double at_s);
  // This failure ended the trainer processes.
  void end_trainers(const FailureClass& failure_class);
  // Drops copies started after `since_s`, and those on GPUs: they hold the state of a diverging
  // run.
  void spoil(double since_s);
  // Drops copies of later iterations, which belong to an abandoned run.
  void forget_after(std::int64_t iteration);
  // Corrupts the tier's newest copy without being noticed.
  void corrupt(int tier);

  // A copy to load; kNoTier: there is none.
  struct Source {
    int tier = kNoTier;
    std::int64_t iteration = 0;
    double load_s = 0;
    bool bad = false;
  };
  // The newest state; among equals the fastest to load if the layout lacks `out` nodes. `good`:
  // only copies that are not corrupt.
  Source newest(bool good, int out) const;
  // The copy was loaded and found corrupt.
  void discard(int tier);

 private:
  struct Copy {
    std::int64_t iteration;
    double start_s;
    bool bad;
    int out;
  };
  struct Lost {
    int slot;
    double at_s;
  };
  struct Tier {
    std::vector<Copy> copies{};  // oldest first
    std::vector<Lost> lost{};    // slots lost since the oldest copy, each once
  };
  const std::vector<int>& lost_since(int tier, double start_s) const;
  void lose_slot(int tier, int slot, double at_s);
  void drop_lost_copies(int tier);
  void forget_old_losses(Tier& tier);

  const CampaignPlan& plan_;
  std::vector<Tier> tiers_;
  mutable std::vector<int> slots_;                  // scratch
  mutable std::vector<RestorableCopy> restorable_;  // scratch
};

}  // namespace windtunnel

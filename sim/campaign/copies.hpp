// The copies that a job's tiers can restore, and what failures destroy of them. A copy exists if
// the tier keeps it, if the trainers and keepers that hold it are alive or not needed, and if no
// group has lost more nodes since the copy's start than the tier's code tolerates.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/campaign/campaign_plan.hpp"
#include "sim/campaign/undisturbed_run.hpp"

namespace windtunnel {

class Copies {
 public:
  // `plan` must outlive this object.
  explicit Copies(const CampaignPlan& plan);

  // Adds the run's complete copies (UndisturbedRun::complete_copies). `out`: number of nodes that
  // its layout lacks.
  void collect(const UndisturbedRun& run, double at_s, bool running, int out);
  void add(int tier, const StartedCopy& copy, int out);
  void add_if_newer(int tier, const StartedCopy& copy, int out);
  // Records that the GPUs of all nodes except these hold this state until the trainers end. In a
  // restarting job they hold none until it trains.
  void hold(const StartedCopy& live, const std::vector<int>& empty_slots, int out);

  void lose_node(int slot, double at_s);
  void lose_gpus(int slot);
  // Records that a checksum has failed: this slot's part of the tier is lost.
  void lose_part(int tier, int slot, double at_s) { lose_slot(tier, slot, at_s); }
  // Records that the keeper process of one rank in this slot has died. A tier with a code loses
  // this slot's part. A tier without a code loses its copies in end_trainers().
  void lose_keeper(int slot, double at_s);
  // Records that this failure has ended the trainer processes.
  void end_trainers(const FailureClass& failure_class);
  // Drops copies that started after `since_s`, and copies on GPUs, because they hold the state of a
  // diverging run.
  void spoil(double since_s);
  // Drops copies of later iterations, because the run that made them was abandoned.
  void forget_after(std::int64_t iteration);
  // Corrupts the tier's newest copy. Nobody notices this until it is loaded.
  void corrupt(int tier);

  // A copy to load; kNoTier: there is none.
  struct Source {
    int tier = kNoTier;
    std::int64_t iteration = 0;
    double load_s = 0;
    bool bad = false;
  };
  // Returns the copy with the newest state; among equals the one that is fastest to load if the
  // layout lacks `out` nodes. `good`: only copies that are not corrupt.
  Source newest(bool good, int out) const;
  // Records that the tier's copy was loaded and found corrupt.
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
    std::vector<Lost> lost{};    // slots lost since the oldest copy started, each once
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

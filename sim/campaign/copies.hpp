// What the tiers of a job can restore, and what failures take from them. A copy is there if the
// tier keeps it, if its trainers and keepers live or need not, and if no group has lost more nodes
// since its start than the tier's code tolerates.
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

  // The run's copies that are complete; see UndisturbedRun::complete_copies. `out`: nodes that the
  // layout lacks in it.
  void collect(const UndisturbedRun& run, double at_s, bool running, int out);
  void add(int tier, const StartedCopy& copy, int out);
  void add_if_newer(int tier, const StartedCopy& copy, int out);
  // The GPUs of all nodes but these hold this state until all trainers end; a job that restarts
  // holds none until it trains.
  void hold(const StartedCopy& live, const std::vector<int>& empty_slots, int out);

  void lose_node(int slot, double at_s);
  void lose_gpus(int slot);
  // A checksum does not fit: what this slot holds of the tier is lost.
  void lose_part(int tier, int slot, double at_s) { lose_slot(tier, slot, at_s); }
  // The keeper process of one rank of this slot died; its tier has a code, or the copy is gone.
  void lose_keeper(int slot, double at_s);
  // The trainers ended this way.
  void end_trainers(const FailureClass& failure_class);
  // Marks copies started after `since_s` as bad: they hold what a diverging run wrote.
  void spoil(double since_s);
  // Drops copies of later iterations, which belong to a run that is given up.
  void forget_after(std::int64_t iteration);
  // Makes the tier's newest copy bad without anything noticing it.
  void corrupt(int tier);

  // A copy to load, or kNoTier: nothing is left.
  struct Source {
    int tier = kNoTier;
    std::int64_t iteration = 0;
    double load_s = 0;
    bool bad = false;
  };
  // The newest state; of equally new ones the fastest to load where the layout lacks `out` nodes.
  // `good`: of those that are not bad.
  Source newest(bool good, int out) const;
  // It was loaded and found bad.
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
    std::vector<Lost> lost{};    // slots since the oldest copy, each once
  };
  const std::vector<int>& lost_since(int tier, double start_s) const;
  void lose_slot(int tier, int slot, double at_s);
  void drop_lost_copies(int tier);
  void forget_old_losses(Tier& tier);

  const CampaignPlan& plan_;
  std::vector<Tier> tiers_;
  mutable std::vector<int> slots_;  // scratch
};

}  // namespace windtunnel

// Steps whose stragglers are not simulated task by task, because a step does not wait for all of
// them: by Job::redundancy, or since islands wait for each other only at exchanges (Job::sync). The
// engine simulates the undisturbed step; the slowdown follows from sampled times of its workers
// over many steps: the work of the busiest rank is lengthened by the factor of the workers' round
// (models/reliability/stragglers/straggler_rounds.hpp).
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "models/plan/job.hpp"
#include "models/plan/sync_level.hpp"
#include "models/plan/timeline.hpp"
#include "models/reliability/stragglers/straggler_rounds.hpp"
#include "models/results/iteration_report.hpp"

namespace windtunnel {

// Busy time of a rank's compute stream in an undisturbed iteration.
struct BusySeconds {
  double passes = 0;  // kernels of the model's passes
  double all = 0;     // including the optimizer's
};
BusySeconds busy_seconds(const Plan& plan, const RankTimeline& rank);

bool by_straggler_rule(const Job& job);
Job without_stragglers(const Job& job);  // the job that the engine simulates

// Whether replicas compute more than their part of the batch; and the job with twice as many
// micro-batches. The increase of its step time, including everything that comes with a pass, is the
// cost of a load of 2.
bool has_load(const Job& job);
Job with_twice_the_passes(const Job& job);

// Work of ranks relative to the busiest ones. For a job in another layout the nearest rank is used.
struct WorkShares {
  int pipeline_ranks = 1;
  std::vector<double> shares;  // [replica][pipeline rank]

  double of(const RankCoordinates& at) const {
    const int pp = std::min(at.pp, pipeline_ranks - 1);
    return shares[std::min(std::size_t(at.dp) * pipeline_ranks + pp, shares.size() - 1)];
  }
};
WorkShares work_shares(const Job& job, const Plan& plan);

class StragglerRule {
 public:
  // Samples the rounds of a job with by_straggler_rule(). `passes_s`: the increase of the step time
  // for twice as many micro-batches, if has_load().
  StragglerRule(const Job& job, const WorkShares& shares, double passes_s = 0);

  // For a step that takes `step_s` undisturbed, in the simulated Plan.
  StragglerReport report(const Plan& plan, const Timeline& timeline, double step_s) const;

 private:
  double passes_s_ = 0;
  double load_ = 1;
  int results_ = 1;
  int delay_ = 0;
  StragglerRounds rounds_;
  double slowest_ = 1;  // mean slowdown of the slowest worker
};

// How long islands wait for each other at the exchanges of each level, which share is too late,
// and, if `wait_for` leaves it open, for how many they do not wait: the number with the shortest
// time per step that counts. By `stragglers` (steps of islands) and cluster.jitter; without them by
// the times at which the islands end the simulated step, which takes `step_s`: delays by slow nodes
// are permanent, those by unequal lengths are a new sample in each step. Slow islands that all
// others wait for are already in `step_s`.
void add_drift(const Job& job, const Plan& plan, const Timeline& timeline, double step_s,
               const std::optional<StragglerReport>& stragglers, std::vector<SyncSeconds>& levels);

}  // namespace windtunnel

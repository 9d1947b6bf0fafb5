// Steps whose stragglers are not simulated task by task, because a step does not wait for all of
// them: by Job::redundancy, or because islands wait for each other only at exchanges (Job::sync).
// The engine simulates the undisturbed step. The slowdown follows from sampled times of its workers
// over many steps: the factor of the workers' round lengthens the compute of the busiest rank
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
  double all = 0;     // with those of the optimizer
};
BusySeconds busy_seconds(const Plan& plan, const RankTimeline& rank);

bool by_straggler_rule(const Job& job);
Job without_stragglers(const Job& job);  // the job that the engine simulates

// has_load(): whether replicas compute more than their part of the batch. with_twice_the_passes():
// the job with twice as many micro-batches. The increase of its step time, with everything that a
// pass brings, is the cost of a load of 2.
bool has_load(const Job& job);
Job with_twice_the_passes(const Job& job);

// Compute of ranks relative to the busiest ones. A job in another layout uses the nearest rank.
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
  // Samples the rounds of a job with by_straggler_rule(). `passes_s`: increase of the step time for
  // twice as many micro-batches, if has_load().
  StragglerRule(const Job& job, const WorkShares& shares, double passes_s = 0);

  // Reports on a step that takes `step_s` undisturbed, in the simulated Plan.
  StragglerReport report(const Plan& plan, const Timeline& timeline, double step_s) const;

 private:
  double passes_s_ = 0;
  double load_ = 1;
  int results_ = 1;
  int delay_ = 0;
  StragglerRounds rounds_;
  double slowest_ = 1;  // mean slowdown of the slowest worker
};

// Adds how long islands wait for each other at the exchanges of each level and which share of them
// is too late. If `wait_for` is open, also chooses for how many islands exchanges do not wait: the
// number with the shortest time per step that counts. The times of islands come from `stragglers`
// and cluster.jitter. Without these they are the times at which the islands end the simulated step,
// which takes `step_s`: delays by slow nodes are permanent, those by unequal lengths are a new
// sample in each step. Slow islands for which all others wait are already in `step_s`.
void add_drift(const Job& job, const Plan& plan, const Timeline& timeline, double step_s,
               const std::optional<StragglerReport>& stragglers, std::vector<SyncSeconds>& levels);

}  // namespace windtunnel

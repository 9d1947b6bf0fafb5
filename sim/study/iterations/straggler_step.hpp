// Steps whose stragglers are not simulated task by task, because a step does not wait for all of
// them: by Job::redundancy, or since islands wait for each other at exchanges only (Job::sync). The
// engine simulates the step undisturbed; how much longer it takes follows from the times of its
// workers, sampled over many steps: the work of the busiest rank takes as many times as long as the
// round of workers does (models/reliability/stragglers/straggler_rounds.hpp).
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "models/plan/sync_level.hpp"
#include "models/plan/timeline.hpp"
#include "models/reliability/stragglers/straggler_rounds.hpp"
#include "models/results/iteration_report.hpp"

namespace windtunnel {

// Seconds on the compute stream of a rank in an iteration, undisturbed.
struct BusySeconds {
  double passes = 0;  // kernels of the model's passes
  double all = 0;     // and the optimizer's
};
BusySeconds busy_seconds(const Plan& plan, const RankTimeline& rank);

bool by_straggler_rule(const Job& job);
Job without_stragglers(const Job& job);  // as it is simulated

// Whether replicas compute more than their part of the batch, and the job with as many
// micro-batches again: what its step takes longer, with all that goes with a pass, is what a load
// of 2 costs.
bool has_load(const Job& job);
Job with_twice_the_passes(const Job& job);

// [rank] What it computes over what the busiest one does.
std::vector<double> work_shares(const Job& job, const Plan& plan);

class StragglerRule {
 public:
  // Of a job with by_straggler_rule(); samples its rounds. `passes_s`: what a step takes longer for
  // as many micro-batches again, where has_load().
  StragglerRule(const Job& job, const std::vector<double>& shares, double passes_s = 0);

  // Of a step that takes `step_s` undisturbed, in the Plan that was simulated.
  StragglerReport report(const Plan& plan, const Timeline& timeline, double step_s) const;

 private:
  double passes_s_ = 0;
  double load_ = 1;
  int results_ = 1;
  int delay_ = 0;
  StragglerRounds rounds_;
  double slowest_ = 1;  // of all, in each step
};

// What islands wait for each other at the exchanges of each level, who comes too late and, where
// `wait_for` leaves it open, how many are not waited for: so many that a step which is not in vain
// takes least. `stragglers`: of the steps of islands.
void add_drift(const Job& job, const StragglerReport& stragglers, std::vector<SyncSeconds>& levels);

}  // namespace windtunnel

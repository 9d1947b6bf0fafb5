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

// [pipeline rank] What its ranks compute over what those of the busiest one do.
std::vector<double> work_shares(const Job& job, const Plan& plan);

class StragglerRule {
 public:
  // Of a job with by_straggler_rule(); samples its rounds.
  StragglerRule(const Job& job, const std::vector<double>& shares);

  // Of a step that takes `step_s` undisturbed, in the Plan that was simulated.
  StragglerReport report(const Plan& plan, const Timeline& timeline, double step_s) const;

 private:
  double load_ = 1;
  int results_ = 1;
  int delay_ = 0;
  StragglerRounds rounds_;
  double slowest_ = 1;  // of all, in each step
};

// What islands wait for each other at the exchanges of each level, if a step has so much work that
// stragglers draw out: SyncSeconds::wait_s.
void add_drift(const Job& job, double work_s, std::vector<SyncSeconds>& levels);

}  // namespace windtunnel

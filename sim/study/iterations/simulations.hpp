// Iterations of a job in simulated time: one, one as often as the machine's jitter is drawn, and
// those that a campaign meets.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "models/plan/job.hpp"
#include "models/plan/timeline.hpp"
#include "models/results/campaign_report.hpp"
#include "models/results/iteration_report.hpp"
#include "policies/lowering/iteration_plan.hpp"
#include "policies/lowering/prepared_iteration.hpp"

namespace windtunnel {

class StragglerRule;
struct WorkShares;

struct Execution {
  Plan plan;
  Timeline timeline;
  std::shared_ptr<const FillingReport> filling = {};  // null: nothing fills idle time
};

// The iteration's Plan with these options, simulated and held against its bound; with filling that
// is the profile, and the Plan filled by it is simulated again.
Execution run_plan(const Job& job, const PreparedIteration& prepared,
                   const IterationPlanOptions& options);
// The iteration in which the tiers `due` take snapshots, as the machine jitters in one of its
// draws.
Execution run_iteration(const Job& job, const PreparedIteration& prepared, std::vector<int> due,
                        int draw = 0);

// An iteration as often as the machine's jitter is to be drawn, else once.
struct DrawnIteration {
  Execution execution;                        // of the draw whose step time is nearest to the mean
  int draw = 0;                               // that one
  Estimate step_s;                            // over the draws
  std::optional<StragglerReport> stragglers;  // of by_straggler_rule()
};
DrawnIteration run_draws(const Job& job, const PreparedIteration& prepared, int threads = 0);

// The job's plain iteration and others that its campaign meets: they do not depend on one another
// and are simulated together, as often as the machine's jitter is to be drawn. All see the same
// draws, so that their differences are not the draws'.
class Simulations {
 public:
  struct Ends {
    double iteration_s = 0;
    double begin_s = 0;       // of the reported window's last iteration
    double foreground_s = 0;  // foreground_end_s() of it
    double snapshot_s = 0;    // snapshot_end_s()
  };

  // Keeps references.
  Simulations(const Job& job, const PreparedIteration& prepared);

  // The place of its ends. `own`: of a job with another schedule.
  std::size_t add(Job job, std::vector<int> due = {},
                  std::shared_ptr<const PreparedIteration> own = nullptr);
  // Returns the plain iteration.
  DrawnIteration run(int threads);
  // Means over the draws. Place 0: of the plain iteration.
  const Ends& ends(std::size_t place) const { return ends_[place]; }

 private:
  struct Asked {
    Job job;
    std::vector<int> due;
    std::shared_ptr<const PreparedIteration> own;
  };

  std::shared_ptr<const StragglerRule> rule_of(const Job& job, const WorkShares& shares) const;

  const PreparedIteration& prepared_;
  std::vector<Asked> asked_;
  std::vector<std::shared_ptr<const StragglerRule>> rules_;  // [asked]; empty: of none
  std::vector<Ends> ends_;
};

}  // namespace windtunnel

// Iterations of a job in simulated time: a single one, one for each draw of the machine's jitter,
// or those of its campaign.
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

// Simulates the iteration's Plan with these options and checks the result against the Plan's bound.
// With filling, this run is the profile, and then the filled Plan is simulated.
Execution run_plan(const Job& job, const PreparedIteration& prepared,
                   const IterationPlanOptions& options);
// Simulates the iteration in which the tiers `due` save, in one draw of the machine's jitter.
Execution run_iteration(const Job& job, const PreparedIteration& prepared, std::vector<int> due,
                        int draw = 0);

// One iteration for each draw of the machine's jitter, or a single one without jitter.
struct DrawnIteration {
  Execution execution;                        // of the draw whose step time is nearest to the mean
  int draw = 0;                               // number of that draw
  Estimate step_s;                            // mean over the draws
  std::optional<StragglerReport> stragglers;  // only with by_straggler_rule()
};
DrawnIteration run_draws(const Job& job, const PreparedIteration& prepared, int threads = 0);

// The job's plain iteration and others of its campaign. They are independent and simulated
// together, for each draw of the machine's jitter. All use the same draws, so draws cause no
// differences between them.
class Simulations {
 public:
  struct Ends {
    double iteration_s = 0;
    double begin_s = 0;       // of the last iteration in the reported window
    double foreground_s = 0;  // foreground_end_s() of this iteration
    double snapshot_s = 0;    // snapshot_end_s()
  };

  // Keeps references.
  Simulations(const Job& job, const PreparedIteration& prepared);

  // Requests an iteration. Returns its index for ends(). `own`: the prepared iteration, if it is
  // not that of the plain job.
  std::size_t add(Job job, std::vector<int> due = {},
                  std::shared_ptr<const PreparedIteration> own = nullptr);
  // Simulates what was requested. Returns the plain iteration.
  DrawnIteration run(int threads);
  // Returns means over the draws. Index 0 is the plain iteration.
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
  // [requested iteration]; empty: it has no straggler rule
  std::vector<std::shared_ptr<const StragglerRule>> rules_;
  std::vector<Ends> ends_;
};

}  // namespace windtunnel

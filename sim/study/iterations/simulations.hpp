// Iterations of a job in simulated time: a single one, one per draw of the machine's jitter, and
// those of its campaign.
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

// Simulates the iteration's Plan with these options and checks it against its bound. With filling,
// this first run is the profile, and the filled Plan is simulated again.
Execution run_plan(const Job& job, const PreparedIteration& prepared,
                   const IterationPlanOptions& options);
// The iteration in which the tiers `due` take snapshots, in one draw of the machine's jitter.
Execution run_iteration(const Job& job, const PreparedIteration& prepared, std::vector<int> due,
                        int draw = 0);

// One iteration per draw of the machine's jitter, or a single one without jitter.
struct DrawnIteration {
  Execution execution;                        // of the draw with the step time nearest to the mean
  int draw = 0;                               // number of that draw
  Estimate step_s;                            // over the draws
  std::optional<StragglerReport> stragglers;  // for by_straggler_rule()
};
DrawnIteration run_draws(const Job& job, const PreparedIteration& prepared, int threads = 0);

// The job's plain iteration and others of its campaign. They are independent and simulated
// together, for each draw of the machine's jitter. All use the same draws, so their differences are
// not due to the draws.
class Simulations {
 public:
  struct Ends {
    double iteration_s = 0;
    double begin_s = 0;       // of the last iteration in the reported window
    double foreground_s = 0;  // foreground_end_s() of it
    double snapshot_s = 0;    // snapshot_end_s()
  };

  // Keeps references.
  Simulations(const Job& job, const PreparedIteration& prepared);

  // Requests an iteration, and returns its index for ends(). `own`: the prepared iteration, if it
  // is not that of the plain job.
  std::size_t add(Job job, std::vector<int> due = {},
                  std::shared_ptr<const PreparedIteration> own = nullptr);
  // Returns the plain iteration.
  DrawnIteration run(int threads);
  // Means over the draws. Index 0 is the plain iteration.
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
  // [requested iteration]; empty: no rule
  std::vector<std::shared_ptr<const StragglerRule>> rules_;
  std::vector<Ends> ends_;
};

}  // namespace windtunnel

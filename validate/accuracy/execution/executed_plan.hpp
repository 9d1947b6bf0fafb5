// What both executors are given, the engine and the processes of the harness: one Plan and the
// machine that it is made for. Nothing is lowered twice.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/calibration/calibration.hpp"
#include "models/machine/cluster.hpp"
#include "models/plan/plan.hpp"
#include "models/plan/schedule.hpp"
#include "models/plan/timeline.hpp"
#include "scenarios/language/case.hpp"
#include "scenarios/language/company.hpp"
#include "validate/harness/execute/execute_plan.hpp"

namespace windtunnel {

struct ExecutedPlan {
  std::string scenario;
  Plan plan;
  Cluster cluster;
  Calibration calibration;
  std::vector<Calibration> pool_calibrations;
  std::string compressor;  // of its gradients, by name; several jobs: of the first
  SteadyWindow window;     // of its iterations, whose period is the step
  bool testbed = false;    // how it is executed: ExecuteOptions
  std::optional<PlanKernels> kernels = {};
  bool nccl = false;
};

// In a word each, as documents and tables say it.
struct ExecutionWays {
  std::string links;         // "buckets" or "testbed"
  std::string computations;  // "waits", "cpu kernels", "cuda kernels"
  std::string collectives;   // "tcp" or "nccl"
};
ExecutionWays execution_ways(const ExecutedPlan& executed);

// An iteration of the case; of a company one of each job, begun together. Throws Error where more
// ranks run than can be executed, with what to set.
ExecutedPlan executed_plan(const Case& the_case);
ExecutedPlan executed_plan(const Company& company);

// In simulated time, every rank recorded.
Timeline predicted_timeline(const ExecutedPlan& executed);
// For real; not while other threads run.
PlanRun measured_execution(const ExecutedPlan& executed, const ExecutionScale& scale);
// The period of the steady state; of one iteration its end.
double step_seconds(const ExecutedPlan& executed, const Timeline& timeline);

// The scale at which a plan that is predicted to take so long runs on this machine, several times
// within the budget: long enough that a thread which wakes late does not tell, and with no more
// bytes than its cores carry. `times`: as asked for; 0: as fits.
ExecutionScale fitting_scale(const ExecutedPlan& executed, const Timeline& predicted,
                             double budget_s, double times);

// A plan that was predicted, executed as often as a budget allows.

struct Executions {
  ExecutionScale scale;
  Timeline predicted;
  std::vector<Timeline> measured;
  int strangers = 0;  // in all executions
};

// At least one execution, kMostExecutions at most. Throws Error as execute_plan() does.
inline constexpr int kMostExecutions = 25;
Executions execute_within(const ExecutedPlan& executed, Timeline predicted, double budget_s,
                          const ExecutionScale& scale);

// A Plan as it ran, for traces that hold tasks and not times (traces/chakra).

// Each rank is a class of its own, and what it does by itself (all but messages and collectives)
// takes as long as it took in `measured`, which has every rank.
Plan measured_plan(const Plan& plan, const Timeline& measured);

}  // namespace windtunnel

// The common input of both executors, the engine and the harness's processes: one Plan with its
// machine, so that nothing is lowered twice.
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
  std::string compressor;  // of gradients; with several jobs, of the first
  SteadyWindow window;     // of its iterations; the period is the step
  bool testbed = false;    // see ExecuteOptions
  std::optional<PlanKernels> kernels = {};
  bool nccl = false;
};

// Each is one word, for documents and tables.
struct ExecutionWays {
  std::string links;         // "buckets" or "testbed"
  std::string computations;  // "waits", "cpu kernels", "cuda kernels"
  std::string collectives;   // "tcp" or "nccl"
};
ExecutionWays execution_ways(const ExecutedPlan& executed);

// Executes one iteration of the case; for a company, one iteration of each job, all started
// together. Throws Error, with the setting to change, if more ranks would run than can be executed.
ExecutedPlan executed_plan(const Case& the_case);
ExecutedPlan executed_plan(const Company& company);

// Simulates the plan; every rank is recorded.
Timeline predicted_timeline(const ExecutedPlan& executed);
// Executes the plan for real. The process must have no other thread.
PlanRun measured_execution(const ExecutedPlan& executed, const ExecutionScale& scale);
// The period of the steady state; for a single iteration its end.
double step_seconds(const ExecutedPlan& executed, const Timeline& timeline);

// The scale at which a plan with these predicted times runs several times within the budget on this
// machine: slow enough that late wake-ups of threads do not matter, and with no more bytes than its
// cores can carry. `times`: requested scale; 0: the fitting one.
ExecutionScale fitting_scale(const ExecutedPlan& executed, const Timeline& predicted,
                             double budget_s, double times);

// Executes a predicted plan as often as a budget allows.

struct Executions {
  ExecutionScale scale;
  Timeline predicted;
  std::vector<Timeline> measured;
  int strangers = 0;  // in all executions
};

// At least one execution, and at most kMostExecutions. Throws Error as execute_plan() does.
inline constexpr int kMostExecutions = 25;
Executions execute_within(const ExecutedPlan& executed, Timeline predicted, double budget_s,
                          const ExecutionScale& scale);

// A Plan with the times of its execution, for trace formats that contain tasks without times
// (traces/chakra).

// Each rank becomes a class of its own. Tasks other than messages and collectives take their time
// in `measured`, which must have every rank.
Plan measured_plan(const Plan& plan, const Timeline& measured);

}  // namespace windtunnel

// An ExecutedPlan is the common input of both executors, the engine and the harness's processes:
// one Plan with its machine, so that nothing is lowered twice.
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
  std::string compressor;  // of gradients; if there are several jobs, of the first
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

// Lowers a case to a Plan to execute; for a company, the Plans of all jobs, which start together.
// Throws Error, with the setting to change, if more ranks would run than can be executed.
ExecutedPlan executed_plan(const Case& the_case);
ExecutedPlan executed_plan(const Company& company);

// Simulates the plan; every rank is recorded.
Timeline predicted_timeline(const ExecutedPlan& executed);
// Executes the plan for real. The process must have no other thread.
PlanRun measured_execution(const ExecutedPlan& executed, const ExecutionScale& scale);
// Returns the period of the steady state; for a single iteration, its end.
double step_seconds(const ExecutedPlan& executed, const Timeline& timeline);

// Returns the scale at which a plan with these predicted times runs several times within the budget
// on this machine: slow enough that late wake-ups of threads do not matter, and with no more bytes
// than its cores can carry. If `times` is not 0, it is the requested time scale.
ExecutionScale fitting_scale(const ExecutedPlan& executed, const Timeline& predicted,
                             double budget_s, double times);

struct Executions {
  ExecutionScale scale;
  Timeline predicted;
  std::vector<Timeline> measured;
  int strangers = 0;  // rejected processes (PlanRun), over all executions
};

// Executes a predicted plan as often as the budget allows: at least once, and at most
// kMostExecutions times. Throws Error as execute_plan() does.
inline constexpr int kMostExecutions = 25;
Executions execute_within(const ExecutedPlan& executed, Timeline predicted, double budget_s,
                          const ExecutionScale& scale);

// Returns the Plan with the times of its execution, for trace formats that contain tasks without
// times (traces/chakra). Each rank becomes a class of its own. Tasks other than messages and
// collectives take their time in `measured`, which must have every rank.
Plan measured_plan(const Plan& plan, const Timeline& measured);

}  // namespace windtunnel

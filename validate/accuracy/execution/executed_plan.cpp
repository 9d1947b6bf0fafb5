#include "validate/accuracy/execution/executed_plan.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "models/base/error.hpp"
#include "models/plan/joined_plan.hpp"
#include "models/results/iteration_report.hpp"
#include "policies/iteration.hpp"
#include "sim/engine/engine.hpp"
#include "validate/harness/ranks/own_core.hpp"

namespace windtunnel {
namespace {

// These bound the real seconds of one run of the plan.
constexpr double kShortestRunS = 0.3;
constexpr double kLongestRunS = 2;
constexpr double kRunsOfBudget = 5;
// Core time to wake, send and receive for a task (17,400 tasks of 64 ranks on two cores of a
// virtual machine), and the largest share of the cores' time that this may take.
constexpr double kTaskS = 100e-6;
constexpr double kBusy = 0.25;
// Bytes that a core can carry between processes over TCP while threads sleep and wake: a tenth of
// what two processes reach that do nothing else (scenarios/library/nodes.yaml, cpu-loopback).
constexpr double kCarriedBps = 100e6;
// A core carries a quarter of that on a testbed, because every byte, and the frames that
// acknowledge it, cross the queues of two ports and one to three bridges.
constexpr double kTestbedBps = 25e6;

double shortest_run_s(const Plan& plan, double budget_s) {
  double tasks = 0;
  for (const RankClass& rank_class : plan.classes) {
    tasks += static_cast<double>(rank_class.tasks.size() * rank_class.members.size());
  }
  const double calm_s = tasks * kTaskS / usable_cores() / kBusy;
  return std::max(kShortestRunS, std::min(budget_s, calm_s));
}

void check_ranks(const ExecutedPlan& executed) {
  if (executed.plan.ranks <= kMostExecutedRanks) return;
  throw Error(
      fmt::format("{} has {} ranks, but at most {} can be executed, one process each; make it "
                  "smaller, e.g. with --set cluster.nodes and layout.dp",
                  executed.scenario, executed.plan.ranks, kMostExecutedRanks));
}

template <typename Value>
void keep_member(std::vector<std::vector<Value>>& slots, std::int32_t member) {
  for (std::vector<Value>& slot : slots) slot = {slot[static_cast<std::size_t>(member)]};
}

}  // namespace

ExecutionWays execution_ways(const ExecutedPlan& executed) {
  ExecutionWays ways = {executed.testbed ? "testbed" : "buckets", "waits",
                        executed.nccl ? "nccl" : "tcp"};
  if (executed.kernels) {
    ways.computations =
        executed.kernels->device == DeviceKind::cuda ? "cuda kernels" : "cpu kernels";
  }
  return ways;
}

ExecutedPlan executed_plan(const Case& the_case) {
  ExecutedPlan executed;
  const Job& job = the_case.job;
  executed.scenario = the_case.scenario;
  executed.plan = iteration_plan(job, *the_case.prepared);
  executed.cluster = job.cluster;
  executed.calibration = job.calibration;
  executed.pool_calibrations = job.pool_calibrations;
  executed.compressor = job.communication.compressors.dp.name;
  executed.window = reported_window(job, executed.plan);
  check_ranks(executed);
  return executed;
}

ExecutedPlan executed_plan(const Company& company) {
  ExecutedPlan executed;
  executed.scenario = company.scenario;
  std::vector<Plan> plans;
  std::vector<const Cluster*> clusters;
  for (const Case& each : company.jobs) {
    plans.push_back(iteration_plan(each.job, *each.prepared));
    clusters.push_back(&each.job.cluster);
  }
  const std::vector<double> together(plans.size(), 0);
  executed.plan = joined(std::move(plans), together).plan;
  executed.cluster = joined(clusters);
  executed.calibration = company.jobs.front().job.calibration;
  executed.compressor = company.jobs.front().job.communication.compressors.dp.name;
  executed.pool_calibrations = company.jobs.front().job.pool_calibrations;
  check_ranks(executed);
  return executed;
}

Timeline predicted_timeline(const ExecutedPlan& executed) {
  return execute(executed.plan, executed.cluster,
                 {.fold = FoldMode::none,
                  .calibration = executed.calibration,
                  .pool_calibrations = executed.pool_calibrations,
                  .record_all = true});
}

PlanRun measured_execution(const ExecutedPlan& executed, const ExecutionScale& scale) {
  return execute_plan(executed.plan, executed.cluster,
                      {.scale = scale,
                       .calibration = executed.calibration,
                       .pool_calibrations = executed.pool_calibrations,
                       .kernels = executed.kernels,
                       .nccl = executed.nccl,
                       .testbed = executed.testbed});
}

double step_seconds(const ExecutedPlan& executed, const Timeline& timeline) {
  const auto end_s = [&](int iteration) {
    return foreground_end_s(executed.plan, timeline, iteration);
  };
  const SteadyWindow& window = executed.window;
  if (window.last <= window.first) return end_s(window.last);
  return (end_s(window.last) - end_s(window.first)) / (window.last - window.first);
}

ExecutionScale fitting_scale(const ExecutedPlan& executed, const Timeline& predicted,
                             double budget_s, double times) {
  ExecutionScale scale;
  const double shortest_s = shortest_run_s(executed.plan, budget_s);
  const double longest_s =
      std::max(shortest_s, std::clamp(budget_s / kRunsOfBudget, kShortestRunS, kLongestRunS));
  scale.times = times;
  if (times <= 0) {
    const double real_s = std::clamp(predicted.makespan_s, shortest_s, longest_s);
    scale.times = predicted.makespan_s > 0 ? predicted.makespan_s / real_s : 1;
  }
  const CarriedBytes asked = bytes_to_carry(executed.plan, executed.cluster,
                                            {{}, executed.calibration, executed.pool_calibrations});
  // These are bytes per second in the scenario; real ones are lower by times / bytes.
  const double mean_Bps = predicted.makespan_s > 0 ? asked.total / predicted.makespan_s : 0;
  const double needed_Bps = std::max(mean_Bps, asked.peak_Bps);
  const double core_Bps = executed.testbed ? kTestbedBps : kCarriedBps;
  scale.bytes = scale.times * std::max(1.0, needed_Bps / (core_Bps * usable_cores()));
  return scale;
}

Executions execute_within(const ExecutedPlan& executed, Timeline predicted, double budget_s,
                          const ExecutionScale& scale) {
  using Clock = std::chrono::steady_clock;
  Executions executions;
  executions.predicted = std::move(predicted);
  executions.scale = scale;
  const auto begin = Clock::now();
  double spent_s = 0;
  do {
    PlanRun execution = measured_execution(executed, executions.scale);
    executions.measured.push_back(std::move(execution.timeline));
    executions.strangers += execution.strangers;
    spent_s = std::chrono::duration<double>(Clock::now() - begin).count();
    const auto count = static_cast<double>(executions.measured.size());
    if (spent_s * (count + 1) / count > budget_s) break;
  } while (executions.measured.size() < kMostExecutions);
  return executions;
}

Plan measured_plan(const Plan& plan, const Timeline& measured) {
  Plan result = plan;
  result.classes.clear();
  result.in_step = 1;
  const std::vector<ClassMember> of_rank = class_of_rank(plan);
  for (const RankTimeline& recorded : measured.ranks) {
    const ClassMember& at = of_rank[recorded.rank];
    RankClass rank_class = plan.classes[at.rank_class];
    rank_class.name = "rank " + std::to_string(recorded.rank);
    rank_class.members = {recorded.rank};
    keep_member(rank_class.groups, at.member);
    keep_member(rank_class.peers, at.member);
    for (std::size_t t = 0; t < rank_class.tasks.size(); ++t) {
      Task& task = rank_class.tasks[t];
      const bool alone = task.kind != TaskKind::send && task.kind != TaskKind::recv &&
                         task.kind != TaskKind::collective;
      if (!alone) continue;
      const Span& span = recorded.spans[t];
      task.cost = {{task.category, Origin::measured, span.end_s - span.start_s}};
      task.flows.clear();
    }
    result.classes.push_back(std::move(rank_class));
  }
  return result;
}

}  // namespace windtunnel

#include "policies/lowering/action_steps.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "policies/lowering/unit_cost.hpp"
#include "policies/schedules/schedules.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

Job expert_job() {
  Job job = small_job(2, 1, 4);
  job.model.moe.experts = 8;
  job.model.moe.per_token = 2;
  job.model.moe.ffn_hidden = 1024;
  job.model.moe.shared_ffn = 512;
  job.layout.ep = 8;
  return job;
}

// Owns the objects to which ActionSteps keeps references.
struct Taken {
  Taken(const Job& job, const std::string& schedule_name, InnerTasks tasks)
      : schedule(generate_schedule(schedule_name, job.layout.pp,
                                   microbatches(job.layout, job.batch), job.layout.vpp)),
        units(unit_costs(job, schedule, chunk_costs(job))),
        rounds(unit_rounds(job, schedule)),
        costs(schedule, units),
        steps(schedule, costs, rounds, tasks) {}

  Schedule schedule;
  std::vector<ChunkCost> units;
  std::vector<ChunkRounds> rounds;
  ActionCosts costs;
  ActionSteps steps;
};

double bytes_of(const std::vector<ActionStep>& steps) {
  double bytes = 0;
  for (const ActionStep& step : steps) {
    for (const InnerCollective& collective : step.collectives) bytes += collective.bytes;
    for (const InnerCollective& collective : step.later) bytes += collective.bytes;
    bytes += bytes_of(step.beside);
  }
  return bytes;
}

TEST(ActionSteps, TakeAsLongAsTheActionWhicheverCollectivesAreTasks) {
  const Job job = expert_job();
  for (const InnerTasks tasks :
       {InnerTasks{.tp = true}, InnerTasks{.ep = true}, InnerTasks{.tp = true, .ep = true}}) {
    const Taken taken(job, "1f1b", tasks);
    for (const ActionKind kind : {ActionKind::forward, ActionKind::backward,
                                  ActionKind::backward_input, ActionKind::backward_weight}) {
      const Action action(kind, 0, 0);
      const SteppedAction stepped = taken.steps.of(action);
      const double whole_s = total_seconds(taken.costs.parts(action));
      EXPECT_NEAR(seconds_of(stepped.steps), whole_s, 1e-12 * whole_s) << letters_of(kind);
      EXPECT_LE(total_seconds(stepped.compute), whole_s * (1 + 1e-12));
    }
  }
}

// A layer sends each token to two experts and back, forward and backward: half of a token's 8,192
// bytes (tp 2), four times.
TEST(ActionSteps, SendWhatALayerSends) {
  const Taken taken(expert_job(), "1f1b", {.ep = true});
  const double bytes = bytes_of(taken.steps.of({ActionKind::forward, 0, 0}).steps);
  EXPECT_NEAR(bytes, 8 * 2.0 * (1024 * 2 * 1024 * 2.0 / 2), 1e-6 * bytes);
}

TEST(ActionSteps, PartsOfStepsAddUp) {
  const Taken taken(expert_job(), "1f1b", {.tp = true, .ep = true});
  const std::vector<ActionStep> steps = taken.steps.of({ActionKind::backward, 0, 0}).steps;
  const double whole_s = seconds_of(steps);
  double sum_s = 0;
  double sum_bytes = 0;
  double from = 0;
  for (const double to : {0.013, 0.2, 0.77, 0.9, 1.0}) {
    const std::vector<ActionStep> part = part_of(steps, from, to);
    EXPECT_NEAR(seconds_of(part), (to - from) * whole_s, 1e-9 * whole_s);
    sum_s += seconds_of(part);
    sum_bytes += bytes_of(part);
    from = to;
  }
  EXPECT_NEAR(sum_s, whole_s, 1e-9 * whole_s);
  EXPECT_NEAR(sum_bytes, bytes_of(steps), 1e-6 * sum_bytes);
}

// Each pass of a pair hides its exchange behind the other's kernels.
TEST(ActionSteps, APairTakesAsLongAsInClosedForm) {
  const Taken taken(expert_job(), "1f1b", {.tp = true, .ep = true});
  const Action forward(ActionKind::forward, 0, 1);
  const Action backward(ActionKind::backward, 0, 0);
  const SteppedAction pair = taken.steps.of_pair(forward, backward);
  const double whole_s = total_seconds(taken.costs.pair_parts(forward, backward));
  EXPECT_NEAR(seconds_of(pair.steps), whole_s, 1e-9 * whole_s);
  const double apart =
      bytes_of(taken.steps.of(forward).steps) + bytes_of(taken.steps.of(backward).steps);
  EXPECT_NEAR(bytes_of(pair.steps), apart, 1e-6 * apart);
}

TEST(InnerTasks, AreThoseThatLeaveANode) {
  Job job = expert_job();  // tp inside nodes, experts over two
  const auto chosen = [&] {
    const Taken taken(job, "1f1b", {});
    return inner_tasks(job, taken.rounds);
  };
  EXPECT_FALSE(chosen().tp);
  EXPECT_TRUE(chosen().ep);
  job.communication.fidelity = Fidelity::closed;
  EXPECT_FALSE(chosen().any());
  job.communication.inner = InnerForm::tasks;
  EXPECT_TRUE(chosen().tp && chosen().ep);
  job.communication.fidelity = Fidelity::automatic;
  job.communication.inner = InnerForm::folded;
  EXPECT_FALSE(chosen().any());
  job.communication.inner = InnerForm::automatic;
  job.cluster.node.gpu_path = GpuPath::pcie;  // also carries the NICs' traffic
  EXPECT_TRUE(chosen().tp && chosen().ep);
}

// NICs of nodes that run other jobs carry nothing of this job.
TEST(InnerTasks, SlowNicsOfOtherNodesAreNone) {
  Job job = expert_job();
  const Taken taken(job, "1f1b", {});
  Cluster& cluster = job.cluster;
  for (int node = 0; node < cluster.nodes; ++node) cluster.places.push_back(node + 1);
  cluster.machine_nodes = cluster.nodes + 1;
  const auto slow_at = [&](int place) {
    const std::string nic = "nic-in " + std::to_string(place * cluster.nics_per_node());
    std::vector<bool> tp;
    cluster.degraded_nics = {{place, 0, 0.5}};
    tp.push_back(inner_tasks(job, taken.rounds).tp);
    cluster.degraded_nics.clear();
    cluster.fabric.faults = {{nic, 0.5}};
    tp.push_back(inner_tasks(job, taken.rounds).tp);
    cluster.fabric.faults.clear();
    cluster.fabric.background = {{nic, 0.5}};
    tp.push_back(inner_tasks(job, taken.rounds).tp);
    cluster.fabric.background.clear();
    return tp;
  };
  EXPECT_EQ(slow_at(0), (std::vector{false, false, false}));
  EXPECT_EQ(slow_at(1), (std::vector{true, true, true}));
}

}  // namespace
}  // namespace windtunnel

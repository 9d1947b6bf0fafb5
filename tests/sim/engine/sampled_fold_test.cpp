// Hashed and planned paths make pipelines unlike. A simulated sample of them is compared with all
// of them.
#include "sim/engine/sampled_fold.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "models/base/random.hpp"
#include "scenarios/language/text/choices.hpp"
#include "sim/engine/engine.hpp"
#include "tests/sim/engine/plan_maker.hpp"
#include "tests/support/test_names.hpp"

namespace windtunnel {
namespace {

// There are `dp` pipelines of `pp` nodes with one GPU, in GPipe order. The nodes of a stage are
// adjacent, and pods have at least `dp` nodes and end between stages.
struct PipelinesCase {
  int pp = 2, dp = 16, microbatches = 4;
  double bytes = 5;  // of a message; a NIC sends 10 B/s, and a forward step takes 1 s
  Cluster cluster;

  RankId rank_at(int d, int p) const { return d + dp * ((p + pp) % pp); }

  Plan plan() const {
    Plan plan;
    plan.ranks = pp * dp;
    for (int p = 0; p < pp; ++p) {
      plan.groups.push_back({Category::dp, {}});
      for (int d = 0; d < dp; ++d) plan.groups.back().members.push_back(rank_at(d, p));
      plan.classes.push_back(rank_class(p));
    }
    validate_plan(plan);
    return plan;
  }

 private:
  RankClass rank_class(int p) const {
    RankClass result;
    result.name = "pp " + std::to_string(p);
    result.streams = {{"compute", {}}, {"dp", {}}, {"send", {}}, {"recv", StreamOrder::unordered}};
    result.groups.resize(1);
    result.peers.resize(2);
    for (int d = 0; d < dp; ++d) {
      result.members.push_back(rank_at(d, p));
      result.groups[0].push_back(p);
      result.peers[0].push_back(rank_at(d, p - 1));
      result.peers[1].push_back(rank_at(d, p + 1));
    }
    std::vector<Task>& tasks = result.tasks;
    const auto add = [&tasks](Task task) {
      tasks.push_back(std::move(task));
      return static_cast<TaskIndex>(tasks.size() - 1);
    };
    for (int step = 0; step < 2 * microbatches; ++step) {
      const bool forward = step < microbatches;
      std::vector<TaskIndex> after;
      const auto tag = [&](int from) { return from * 1000 + step; };
      if (p != (forward ? 0 : pp - 1)) {
        after = {add(recv("r", 3, forward ? 0 : 1, tag(forward ? p - 1 : p + 1), bytes))};
      }
      const TaskIndex done = add(compute("step", 0, 1, after));
      if (p != (forward ? pp - 1 : 0)) {
        add(send("s", 2, forward ? 1 : 0, tag(p), bytes, {done}));
      }
    }
    Task reduce = collective("dp", 1, 0, 0, 0.1, {static_cast<TaskIndex>(tasks.size()) - 1});
    if (tasks.back().kind == TaskKind::send) reduce.after = {reduce.after.front() - 1};
    reduce.as_flows = true;
    reduce.algorithm = CollectiveAlgorithm::ring;
    reduce.bytes = 20;
    add(reduce);
    return result;
  }
};

PipelinesCase random_pipelines(std::uint64_t seed, Routing routing) {
  RandomStream random(seed, RandomPurpose::test, 7);
  const auto pick = [&random](int bound) { return static_cast<int>(random.below(bound)); };
  PipelinesCase result;
  result.pp = 2 + pick(3);
  result.dp = 16 + 8 * pick(3);
  result.microbatches = 2 + pick(6);
  result.bytes = 1 + 5 * random.uniform();
  result.cluster = small_cluster(result.pp * result.dp);
  result.cluster.node.gpus = result.cluster.node.nics = 1;
  FabricSpec& fabric = result.cluster.fabric;
  fabric.topology = pick(2) ? Topology::fat_tree : Topology::clos;
  fabric.nodes_per_leaf = 8;
  fabric.nodes_per_pod = result.dp * (1 + pick(result.pp - 1));
  fabric.pod_oversubscription = 1 + pick(4);
  fabric.routing = routing;
  fabric.routing_seed = seed;
  return result;
}

Timeline run(const PipelinesCase& job, FoldMode mode, FoldLimits limits = {}) {
  EngineOptions options;
  options.calibration.nvlink_efficiency = options.calibration.nic_efficiency = exactly(1);
  options.fold = mode;
  options.fold_limits = limits;
  return execute(job.plan(), job.cluster, options);
}

// Returns the step time if the network takes no time.
double compute_s(const PipelinesCase& job) {
  return 2 * (job.microbatches + job.pp - 1);
}

struct Errors {
  int count = 0;
  double sum = 0, squares = 0, largest = 0;

  void add(double error) {
    ++count;
    sum += error;
    squares += error * error;
    largest = std::max(largest, std::abs(error));
  }
  double mean() const { return sum / count; }
  double root_mean_square() const { return std::sqrt(squares / count); }
};

class SampledOnRandomFabrics : public ::testing::TestWithParam<Routing> {};

// Eight of 16 to 32 pipelines are simulated; docs/physics/network.md states the same figures for
// 400 other seeds.
TEST_P(SampledOnRandomFabrics, IsNearAllRanks) {
  Errors all_jobs, little_network;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const PipelinesCase job = random_pipelines(seed, GetParam());
    const Timeline all = run(job, FoldMode::none);
    const Timeline some = run(job, FoldMode::automatic, {8, 8 * job.pp});
    if (some.sampled_of == 0) {
      EXPECT_NEAR(some.makespan_s, all.makespan_s, 1e-6 * all.makespan_s) << "seed " << seed;
      continue;
    }
    EXPECT_LE(some.ranks_simulated, 8 * job.pp);
    double stood_for = 0;
    for (const RankTimeline& rank : some.ranks) stood_for += rank.multiplicity;
    EXPECT_EQ(stood_for, job.pp * job.dp);
    const double error = some.makespan_s / all.makespan_s - 1;
    EXPECT_LT(std::abs(error), 0.3) << "seed " << seed;
    all_jobs.add(error);
    if (all.makespan_s < 1.5 * compute_s(job)) little_network.add(error);
  }
  for (const auto& [name, errors] :
       {std::pair("all", all_jobs),
        std::pair("less than a third of the step is network", little_network)}) {
    fmt::print("{}: {} jobs, mean {:+.2f} %, root mean square {:.2f} %, largest {:.1f} %\n", name,
               errors.count, 100 * errors.mean(), 100 * errors.root_mean_square(),
               100 * errors.largest);
  }
  ASSERT_GE(little_network.count, 3);
  EXPECT_LT(std::abs(all_jobs.mean()), 0.02);
  EXPECT_LT(all_jobs.root_mean_square(), 0.08);
  EXPECT_LT(little_network.root_mean_square(), 0.04);
}

INSTANTIATE_TEST_SUITE_P(Routings, SampledOnRandomFabrics,
                         ::testing::Values(Routing::ecmp, Routing::planned),
                         named([](Routing routing) { return name_of(routing); }));

TEST(SampledFold, LeavesAloneWhatFoldsExactly) {
  PipelinesCase job = random_pipelines(1, Routing::ecmp);
  job.cluster.fabric.topology = Topology::fat_tree;
  job.cluster.fabric.nodes_per_pod = 0;  // one pod, so that there is one path
  const Timeline folded = run(job, FoldMode::automatic, {job.pp, job.pp});
  EXPECT_EQ(folded.sampled_of, 0);
  EXPECT_EQ(folded.ranks_simulated, job.pp);
}

TEST(SampledFold, ExactSimulatesAllThatDiffer) {
  PipelinesCase job = random_pipelines(3, Routing::ecmp);
  job.cluster.fabric.nodes_per_pod = job.dp;
  job.cluster.fabric.pod_oversubscription = 4;
  const FoldLimits limits{job.pp, job.pp};
  EXPECT_GT(run(job, FoldMode::automatic, limits).sampled_of, 0);
  const Timeline exact = run(job, FoldMode::exact, limits);
  EXPECT_EQ(exact.sampled_of, 0);
  EXPECT_NEAR(exact.makespan_s, run(job, FoldMode::none).makespan_s, 1e-6 * exact.makespan_s);
}

TEST(SampledFold, ASlowNodeIsAlwaysSimulated) {
  PipelinesCase job = random_pipelines(3, Routing::ecmp);
  job.cluster.fabric.nodes_per_pod = job.dp;
  job.cluster.fabric.pod_oversubscription = 4;
  job.cluster.slow_nodes = {{job.dp - 1, 3}};
  const Timeline folded = run(job, FoldMode::automatic, {job.pp, 2 * job.pp});
  ASSERT_GT(folded.sampled_of, 0);
  EXPECT_EQ(folded.ranks[folded.recorded_as[job.dp - 1]].rank, job.dp - 1);
  EXPECT_GE(folded.makespan_s, 3 * 2 * job.microbatches);
}

}  // namespace
}  // namespace windtunnel

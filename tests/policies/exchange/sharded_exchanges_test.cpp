// Bytes of exchanges with sharded training state: sums are scattered, exchanges that are no sums
// are the same as without sharding, and weights are gathered (docs/physics/gradients.md,
// "Compressors").
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <numeric>
#include <string>

#include "models/compression/compressors.hpp"
#include "models/compression/robust.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/results/iteration_report.hpp"
#include "models/workload/training.hpp"
#include "policies/evaluation/plan_evaluation.hpp"
#include "policies/exchange/compressed_reductions.hpp"
#include "policies/iteration.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

using enum CollectiveKind;
using Bytes = std::map<CollectiveKind, double>;

constexpr int kReplicas = 8;

Job job_of(std::string_view compressor, int pp = 1,
           GradientOverlap overlap = GradientOverlap::bucketed) {
  Job job = small_job(1, pp, kReplicas);
  job.layout.sharding = Sharding::none;
  job.batch.global = kReplicas * 4;
  job.model.tied_embeddings = false;
  job.communication.overlap = overlap;
  job.communication.fidelity = Fidelity::closed;
  job.communication.bucket_bytes = 10e6;
  job.communication.compressors.dp.name = compressor;
  return job;
}

Job sharded(Job job, Sharding sharding = Sharding::zero1) {
  job.layout.sharding = sharding;
  return job;
}

double weight_bytes(const Job& job) {
  return job.model.parameters() * weight_bytes_per_parameter(job);
}
double gradient_bytes(const Job& job) {
  return job.model.parameters() * reduce_bytes_per_parameter(job);
}

// The bytes of one iteration over all pipeline ranks. Checks that the closed form agrees with the
// Plan, and that no collective takes less time than its bytes need on the links that it crosses.
Bytes bytes_of(const Job& job) {
  const PreparedIteration prepared = prepare_iteration(job);
  const Plan plan = iteration_plan(job, prepared);
  validate_plan(plan);
  const Timeline timeline = evaluate_plan(plan, job.cluster);
  const double step_s = iteration_s(job, plan, timeline);
  EXPECT_NEAR(estimate_iteration(job, prepared).step_s, step_s, 1e-9 * step_s);
  Bytes bytes;
  const int iterations = plan.iterations;
  for (const RankTimeline& rank : timeline.ranks) {
    const std::vector<Task>& tasks = plan.classes[rank.rank_class].tasks;
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      if (tasks[t].kind != TaskKind::collective || tasks[t].bytes <= 8) continue;
      bytes[tasks[t].collective] += tasks[t].bytes / iterations;
      // With two members or more each sends half of the bytes at least, over NVLink at best.
      EXPECT_GE(rank.spans[t].end_s - rank.spans[t].start_s,
                tasks[t].bytes / 2 / job.cluster.node.nvlink_Bps.value * (1 - 1e-9))
          << tasks[t].name;
    }
  }
  return bytes;
}

void expect_bytes(Bytes own, Bytes expected) {
  for (const CollectiveKind kind : {all_reduce, reduce_scatter, all_gather, all_to_all}) {
    EXPECT_NEAR(own[kind], expected[kind], 1e-6 * expected[kind] + 100) << to_string(kind);
  }
}

// PyTorch's ZeroRedundancyOptimizer behind a communication hook of DDP (ddp_zero_hook.py) runs the
// hook's exchange, updates a shard, and sends the weights to all ranks.
TEST(ShardedExchanges, WhatIsNoSumGoesWholeAndTheWeightsAreGathered) {
  for (const char* name : {"powersgd", "acp-sgd", "topk", "dgc", "mstopk", "onebit-sgd",
                           "onebit-adam", "onebit-lamb", "demo", "lgreco"}) {
    for (const int pp : {1, 2}) {
      for (const auto overlap : {GradientOverlap::none, GradientOverlap::bucketed}) {
        SCOPED_TRACE(fmt::format("{} pp {} overlap {}", name, pp, int(overlap)));
        const Job job = job_of(name, pp, overlap);
        Bytes expected = bytes_of(job);
        expected[all_gather] += weight_bytes(job);
        expect_bytes(bytes_of(sharded(job)), expected);
      }
    }
  }
}

// The first of two hops leaves each rank the sum of its part, which is its shard.
TEST(ShardedExchanges, PartsThatAreReducedStayWhereTheyAre) {
  for (const char* name : {"int8", "int4", "qsgd", "signsgd", "distributed-lion"}) {
    for (const int pp : {1, 2}) {
      SCOPED_TRACE(fmt::format("{} pp {}", name, pp));
      const Job job = job_of(name, pp);
      Bytes expected = bytes_of(job);
      EXPECT_GT(expected[all_gather], 0);
      expected[all_gather] = weight_bytes(job);
      expect_bytes(bytes_of(sharded(job)), expected);
    }
  }
}

// Under zero2 every micro-batch has an exchange; under zero3 weights are also gathered layer by
// layer, forward and backward.
TEST(ShardedExchanges, SmallerShardsExchangeInEveryMicrobatch) {
  const Job job = job_of("int8");
  const int microbatches = 4 / job.batch.micro;
  Bytes expected = bytes_of(job);
  expected[all_to_all] *= microbatches;
  expected[all_gather] = weight_bytes(job);
  expect_bytes(bytes_of(sharded(job, Sharding::zero2)), expected);
  Bytes gathered = bytes_of(sharded(job_of("none"), Sharding::zero3));
  expected[all_gather] = gathered[all_gather];
  expect_bytes(bytes_of(sharded(job, Sharding::zero3)), expected);
}

Job robust_job(RobustRule rule, RobustForm form, int pp = 1) {
  Job job = job_of("none", pp);
  job.communication.robust =
      std::make_shared<const RobustAggregation>(RobustAggregation{.rule = rule, .form = form});
  return job;
}

TEST(ShardedExchanges, RobustRulesWorkOnShards) {
  for (const int pp : {1, 2}) {
    for (const RobustRule rule : {RobustRule::median, RobustRule::krum, RobustRule::flag}) {
      const Job sliced = robust_job(rule, RobustForm::sliced, pp);
      Bytes expected = bytes_of(sliced);
      expected[all_gather] = weight_bytes(sliced);
      expect_bytes(bytes_of(sharded(sliced)), expected);
      const Job gathered = robust_job(rule, RobustForm::gathered, pp);
      expected = bytes_of(gathered);
      expected[all_gather] += weight_bytes(gathered);
      expect_bytes(bytes_of(sharded(gathered)), expected);
    }
  }
}

// MoNNA's replicas have different weights, so that there is no common model to shard.
TEST(ShardedExchanges, ModelsThatDifferAreNotSharded) {
  const Job job = robust_job(RobustRule::monna, RobustForm::gathered);
  EXPECT_GT(bytes_of(job)[all_gather], 0);
  EXPECT_TRUE(
      fails([&] { prepare_iteration(sharded(job)); }, "gives each replica its own weights"));
}

// If shards have copies, compression applies between the copies by default, and among all ranks if
// the job says so.
TEST(ShardedExchanges, ShardsWithCopiesCompressBetweenThem) {
  Job job = job_of("topk");
  const Bytes whole = bytes_of(job);
  job.layout.sharding = Sharding::zero1;
  job.layout.shard_ranks = 4;
  Bytes across = bytes_of(job);
  EXPECT_NEAR(across[reduce_scatter], gradient_bytes(job), 1e-6 * gradient_bytes(job));
  // Two ranks send a quarter of the elements each, instead of eight ranks all of them.
  EXPECT_NEAR(across[all_gather], weight_bytes(job) + whole.at(all_gather) / 16,
              1e-6 * weight_bytes(job));
  job.communication.compressors.dp.hop = CompressedHop::all;
  Bytes expected = whole;
  expected[all_gather] += weight_bytes(job);
  expect_bytes(bytes_of(job), expected);
}

// Without copies of shards compression applies between nodes: inside nodes the sum is dense, and
// nothing is gathered afterwards.
TEST(ShardedExchanges, WithoutCopiesThePlaceIsTheNode) {
  Job job = job_of("int8");
  const Bytes whole = bytes_of(job);
  job.communication.compressors.dp.hop = CompressedHop::across;
  Bytes own = bytes_of(sharded(job));
  EXPECT_NEAR(own[reduce_scatter], gradient_bytes(job), 1e-6 * gradient_bytes(job));
  EXPECT_NEAR(own[all_to_all], whole.at(all_to_all) / 4, 1e-6 * whole.at(all_to_all));
}

// Gradients are scattered during the backward pass. The update of a shard and the gather of its
// weights precede the forward pass that needs them, and no rank waits for a gradient norm.
TEST(ShardedExchanges, DearAndPriorityScatterGradientsAndGatherWeights) {
  for (const auto overlap : {GradientOverlap::dear, GradientOverlap::priority}) {
    for (const auto sharding : {Sharding::zero1, Sharding::zero2}) {
      for (const int pp : {1, 2}) {
        SCOPED_TRACE(fmt::format("{} {} pp {}", name_of(overlap), name_of(sharding), pp));
        const Job job = sharded(job_of("none", pp, overlap), sharding);
        const int times = sharding == Sharding::zero2 ? 4 / job.batch.micro : 1;
        expect_bytes(bytes_of(job), {{reduce_scatter, times * gradient_bytes(job)},
                                     {all_gather, weight_bytes(job)}});
      }
    }
  }
}

TEST(ShardedExchanges, WeightsAreGatheredBehindTheUpdateOfTheirShard) {
  for (const auto overlap : {GradientOverlap::dear, GradientOverlap::priority}) {
    const Job job = sharded(job_of("none", 1, overlap));
    const Plan plan = iteration_plan(job, prepare_iteration(job));
    const std::vector<Task>& tasks = plan.classes.front().tasks;
    int gathers = 0;
    double updated_s = 0;
    for (const Task& task : tasks) {
      if (task.category == Category::optimizer) updated_s += total_seconds(task.cost);
      if (task.kind != TaskKind::collective || task.collective != all_gather) continue;
      ++gathers;
      const bool behind = std::ranges::any_of(task.after, [&](TaskIndex before) {
        return tasks[before].category == Category::optimizer && tasks[before].name != "optimizer";
      });
      EXPECT_TRUE(behind) << task.name;
    }
    EXPECT_GT(gathers, 2);
    // Updating a shard takes its share of the time for all weights.
    const double whole_s = total_seconds(update_cost(job.model.parameters(), job));
    EXPECT_NEAR(updated_s / plan.iterations, whole_s / kReplicas, 1e-6 * whole_s);
  }
}

// If the network is the bottleneck, the first weights are gathered before all gradients have
// arrived.
TEST(ShardedExchanges, DearIsNoSlowerThanBuckets) {
  const auto step_s = [](GradientOverlap overlap) {
    Job job = sharded(job_of("none", 1, overlap));
    job.cluster.node.nic_Bps = spec(4e9);
    return iteration_step_s(job, prepare_iteration(job));
  };
  EXPECT_LE(step_s(GradientOverlap::dear), 1.001 * step_s(GradientOverlap::bucketed));
}

// Each host serves the shards of its own GPUs: gradients are pushed, and nothing is pulled.
TEST(ShardedExchanges, ServersOnTheHostsReturnNothing) {
  Job job = job_of("none");
  job.communication.aggregation = Aggregation::parameter_server;
  const Bytes whole = bytes_of(job);
  const Bytes expected = {{all_to_all, whole.at(all_to_all) / 2},
                          {reduce_scatter, whole.at(reduce_scatter)},
                          {all_gather, weight_bytes(job)}};
  expect_bytes(bytes_of(sharded(job)), expected);
  // Separate servers receive all gradients and return a part, at the same time.
  job.communication.servers = 2;
  const Bytes apart = bytes_of(job);
  expect_bytes(bytes_of(sharded(job)), {{all_to_all, apart.at(all_to_all)},
                                        {reduce_scatter, apart.at(reduce_scatter)},
                                        {all_gather, weight_bytes(job)}});
  // With copies of shards, each rank pushes and pulls its part.
  job.communication.servers = 0;
  job.layout.sharding = Sharding::zero1;
  job.layout.shard_ranks = 4;
  expect_bytes(bytes_of(job), {{all_to_all, 2 * gradient_bytes(job) / 4},
                               {reduce_scatter, gradient_bytes(job)},
                               {all_gather, weight_bytes(job)}});
}

// An island's gradients go only to servers on its own nodes.
TEST(ShardedExchanges, IslandsHaveServersOfTheirOwn) {
  Job job = job_of("none");
  job.communication.aggregation = Aggregation::parameter_server;
  job.layout.sync_groups = {2};
  job.sync.push_back({.over = "islands", .pattern = SyncPattern::none});
  expect_bytes(bytes_of(job), {{all_to_all, 2 * gradient_bytes(job)}});
  const auto inner_s = [&](double nic_Bps) {
    job.cluster.node.nic_Bps = spec(nic_Bps);
    const Plan plan = iteration_plan(job, prepare_iteration(job));
    return iteration_s(job, plan, evaluate_plan(plan, job.cluster));
  };
  EXPECT_EQ(inner_s(1e6), inner_s(1e12)) << "an island is a node";
}

// EmbRace: the rank that holds columns of a table updates them, and lookups replace the gather.
TEST(ShardedExchanges, RowsOfEmbeddingsGoAsTheyDo) {
  Job job = job_of("none");
  const double table = double(job.model.vocabulary) * job.model.hidden;
  for (const int pp : {1, 2}) {
    job = job_of("none", pp);
    job.communication.embeddings = EmbeddingExchange::all_to_all;
    Bytes expected = bytes_of(job);
    EXPECT_GT(expected[all_to_all], 0);
    expected[all_reduce] = 0;
    expected[reduce_scatter] = gradient_bytes(job) - 4 * table;
    expected[all_gather] = weight_bytes(job) - 2 * table;
    expect_bytes(bytes_of(sharded(job)), expected);
    job.communication.embeddings = EmbeddingExchange::all_gather;
    expected = bytes_of(job);
    expected[all_reduce] = 0;
    expected[reduce_scatter] = gradient_bytes(job) - 4 * table;
    expected[all_gather] += weight_bytes(job);
    expect_bytes(bytes_of(sharded(job)), expected);
  }
}

// DeAR splits sums into halves and leaves the rows of embeddings in the backward pass; parameter
// servers get dense gradients.
TEST(ShardedExchanges, RowsOfEmbeddingsGoBesideDearAndServers) {
  Job job = job_of("none");
  job.communication.embeddings = EmbeddingExchange::all_to_all;
  Bytes expected = bytes_of(job);
  expected[reduce_scatter] = expected[all_gather] = expected[all_reduce];
  expected[all_reduce] = 0;
  Job dear = job;
  dear.communication.overlap = GradientOverlap::dear;
  expect_bytes(bytes_of(dear), expected);
  const double rows = expected[all_to_all];
  const double dense = expected[reduce_scatter];
  job.communication.aggregation = Aggregation::parameter_server;
  expect_bytes(bytes_of(job),
               {{all_to_all, rows + 2 * dense / 4}, {reduce_scatter, dense}, {all_gather, dense}});
}

// Compressors that send the momentum need all of it, so that each rank keeps it unsharded beside
// its shard of the rest.
TEST(ShardedExchanges, AMomentumThatIsSentStaysWhole) {
  for (const char* name : {"onebit-adam", "demo", "distributed-lion", "topk"}) {
    const Job job = job_of(name);
    const GpuMemory whole = prepare_iteration(job).memory.front();
    const GpuMemory own = prepare_iteration(sharded(job)).memory.front();
    const double momentum = 4 * job.model.parameters() * (kReplicas - 1) / kReplicas;
    EXPECT_NEAR(own.gradients - whole.gradients, name == std::string("topk") ? 0 : momentum,
                1e-6 * momentum)
        << name;
    EXPECT_NEAR(own.optimizer, whole.optimizer / kReplicas, 1e-6 * whole.optimizer);
  }
}

// With compression between nodes a rank compresses the quarter that its node's sum leaves it, and
// its shard is an eighth. With copies of shards a rank compresses exactly its shard.
TEST(ShardedExchanges, AMomentumIsOfWhatARankCompresses) {
  for (const char* name : {"onebit-adam", "demo", "distributed-lion"}) {
    Job job = job_of(name);
    job.communication.compressors.dp.hop = CompressedHop::across;
    const double whole = prepare_iteration(job).memory.front().gradients;
    Job own = sharded(job);
    const double momentum = 4 * job.model.parameters() * (1.0 / 4 - 1.0 / kReplicas);
    EXPECT_NEAR(prepare_iteration(own).memory.front().gradients - whole, momentum, 1e-6 * momentum)
        << name;
    own.layout.shard_ranks = 4;
    EXPECT_NEAR(prepare_iteration(own).memory.front().gradients, whole, 1e-6 * momentum) << name;
  }
}

// `dear` and `priority` run one collective, so that the default hop does not divide it between
// copies.
TEST(ShardedExchanges, DearAndPriorityLeaveTheExchangeOfCopiesWhole) {
  Job job = sharded(job_of("topk", 1, GradientOverlap::priority));
  job.layout.shard_ranks = 2;
  EXPECT_FALSE(compresses_across(job));
  EXPECT_TRUE(fails([&] { prepare_iteration(job); }, "topk needs more than one all-reduce"));
  job.communication.compressors.dp.name = "acp-sgd";
  job.communication.overlap = GradientOverlap::dear;
  EXPECT_FALSE(compresses_across(job));
  EXPECT_NO_THROW(prepare_iteration(job));
  job.communication.compressors.dp.hop = CompressedHop::across;
  EXPECT_TRUE(fails([&] { prepare_iteration(job); }, "with hop: across"));
  job.communication.compressors.dp.hop = CompressedHop::automatic;
  job.communication.overlap = GradientOverlap::bucketed;
  EXPECT_TRUE(compresses_across(job));
}

// The momentum adds the gradients of a whole step, which zero2 and zero3 release in every
// micro-batch.
TEST(ShardedExchanges, AMomentumNeedsTheGradientsOfAStep) {
  Job job = sharded(job_of("demo"), Sharding::zero2);
  EXPECT_TRUE(fails([&] { prepare_iteration(job); }, "adds the gradients of a whole step to a"));
  job.batch.micro = 4;
  EXPECT_GT(bytes_of(job)[all_gather], weight_bytes(job));
}

// Each of two forward passes gathers the weights; then a single number is exchanged.
TEST(ShardedExchanges, StepsWithoutABackwardPassGatherTwice) {
  for (const int pp : {1, 2}) {
    Job job = job_of(kOneByte, pp);
    Training training;
    training.method = TrainingMethod::zeroth_order;
    job.training = std::make_shared<const Training>(training);
    const GpuMemory whole = prepare_iteration(job).memory.front();
    EXPECT_EQ(bytes_of(job), Bytes{});
    const int microbatches = 4 / job.batch.micro;
    const Job own = sharded(job, Sharding::zero3);
    expect_bytes(bytes_of(own), {{all_gather, 2 * microbatches * weight_bytes(job)}});
    const GpuMemory memory = prepare_iteration(own).memory.front();
    EXPECT_NEAR(memory.weights, whole.weights / kReplicas, 1e-6 * whole.weights);
    EXPECT_EQ(memory.gradients, 0);
    EXPECT_TRUE(fails([&] { prepare_iteration(sharded(job)); }, "no optimizer state"));
  }
}

}  // namespace
}  // namespace windtunnel

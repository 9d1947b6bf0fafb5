// Tests of every overlap policy, compressor and sharding together: each runs, or is refused with
// the reason.
#include "policies/exchange/compressed_reductions.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/base/error.hpp"
#include "models/compression/compressors.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/results/iteration_report.hpp"
#include "models/workload/training.hpp"
#include "policies/conflicts/conflict.hpp"
#include "policies/evaluation/plan_evaluation.hpp"
#include "policies/iteration.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

constexpr std::array kOverlaps = {GradientOverlap::none,     GradientOverlap::wfbp,
                                  GradientOverlap::bucketed, GradientOverlap::mg_wfbp,
                                  GradientOverlap::asc,      GradientOverlap::priority,
                                  GradientOverlap::dear};

Job job_of(GradientOverlap overlap, std::string_view compressor, int tp = 1, int pp = 1,
           int dp = 8) {
  Job job = small_job(tp, pp, dp);
  job.layout.sharding = Sharding::none;
  job.batch.global = dp * 4;
  job.communication.overlap = overlap;
  job.communication.fidelity = Fidelity::closed;
  job.communication.bucket_bytes = 10e6;
  job.communication.compressors.dp.name = compressor;
  return job;
}

struct Outcome {
  std::string refused;
  double seconds = 0;
  Plan plan;
};

Outcome run(const Job& job) {
  Outcome run;
  PreparedIteration prepared;
  try {
    prepared = prepare_iteration(job);
    run.plan = iteration_plan(job, prepared);
  } catch (const Error& error) {
    run.refused = error.what();
    return run;
  }
  validate_plan(run.plan);
  run.seconds = iteration_s(job, run.plan, evaluate_plan(run.plan, job.cluster));
  const IterationEstimate estimate = estimate_iteration(job, prepared);
  EXPECT_NEAR(estimate.step_s, run.seconds, 1e-9 * run.seconds);
  return run;
}

TEST(GradientExchange, EveryCombinationRunsOrIsRefusedWithTheReason) {
  int ran = 0;
  int refused = 0;
  for (const CompressorKind& kind : compressor_kinds()) {
    for (const GradientOverlap overlap : kOverlaps) {
      for (const auto sharding :
           {Sharding::none, Sharding::zero1, Sharding::zero2, Sharding::zero3}) {
        for (const auto& [tp, pp] : {std::pair(1, 1), {2, 1}, {1, 2}}) {
          for (const auto aggregation : {Aggregation::all_reduce, Aggregation::parameter_server}) {
            Job job = job_of(overlap, kind.name, tp, pp, 4);
            job.layout.sharding = sharding;
            job.communication.aggregation = aggregation;
            SCOPED_TRACE(fmt::format("{} overlap {} zero {} tp {} pp {} servers {}", kind.name,
                                     int(overlap), int(sharding), tp, pp, int(aggregation)));
            const Outcome result = run(job);
            if (result.refused.empty()) {
              EXPECT_GT(result.seconds, 0);
              ++ran;
            } else {
              EXPECT_NE(result.refused.find("communication."), std::string::npos) << result.refused;
              ++refused;
            }
          }
        }
      }
    }
  }
  fmt::print("{} ran, {} refused\n", ran, refused);
  EXPECT_GT(ran, 1400);
}

double busy_s(const Plan& plan, Category category) {
  double seconds = 0;
  for (const Task& task : plan.classes.front().tasks) {
    for (const CostPart& part : task.cost) {
      if (part.category == category) seconds += part.seconds;
    }
  }
  return seconds;
}

// Kernels and collectives alternate: encode, all-reduce, orthonormalise, all-reduce, decode.
TEST(GradientExchange, KernelsAndCollectivesOfAChainFollowOneAnother) {
  for (const GradientOverlap overlap : {GradientOverlap::none, GradientOverlap::wfbp,
                                        GradientOverlap::bucketed, GradientOverlap::asc}) {
    const Job job = job_of(overlap, "powersgd");
    const Outcome result = run(job);
    ASSERT_EQ(result.refused, "");
    const Timeline timeline = evaluate_plan(result.plan, job.cluster);
    const auto& tasks = result.plan.classes.front().tasks;
    const auto& spans = timeline.ranks.front().spans;
    int decodes = 0;
    double decoded_s = 0;
    double optimizer_s = 0;
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      for (const TaskIndex before : tasks[t].after) {
        EXPECT_LE(spans[before].end_s, spans[t].start_s) << tasks[t].name;
      }
      if (tasks[t].name.starts_with("decode")) {
        ++decodes;
        decoded_s = std::max(decoded_s, spans[t].end_s);
        EXPECT_EQ(tasks[tasks[t].after.front()].kind, TaskKind::collective);
      }
      if (tasks[t].name == "optimizer") optimizer_s = spans[t].start_s;
    }
    EXPECT_GT(decodes, 0);
    EXPECT_LE(decoded_s, optimizer_s);
    EXPECT_GT(busy_s(result.plan, Category::compression), 0);
  }
}

// If the same cores compute and send, a step is the sum of both, and no kernel runs beside a
// collective.
TEST(GradientExchange, BlockingCollectivesRunWhileNothingIsComputed) {
  for (const char* compressor : {"none", "powersgd", "int8"}) {
    const Job job = job_of(GradientOverlap::blocking, compressor);
    const Outcome result = run(job);
    ASSERT_EQ(result.refused, "");
    const Timeline timeline = evaluate_plan(result.plan, job.cluster);
    const auto& tasks = result.plan.classes.front().tasks;
    const auto& spans = timeline.ranks.front().spans;
    double sum_s = 0;
    int during = 0;  // collectives during the backward pass
    double backward_ends_s = 0;
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      sum_s += spans[t].end_s - spans[t].start_s;
      if (tasks[t].category == Category::backward) backward_ends_s = spans[t].end_s;
    }
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      if (tasks[t].kind == TaskKind::collective && spans[t].end_s < backward_ends_s) ++during;
    }
    EXPECT_NEAR(result.seconds, sum_s, 1e-9 * sum_s) << compressor;
    EXPECT_GT(during, 0) << compressor;
    EXPECT_GT(result.seconds, run(job_of(GradientOverlap::bucketed, compressor)).seconds);
  }
}

// Compression pays on a slow network; on an infinitely fast one only its kernels are left.
TEST(GradientExchange, PowerSgdPaysOnSlowNetworksOnly) {
  for (const GradientOverlap overlap : {GradientOverlap::none, GradientOverlap::bucketed}) {
    for (const double nic_Bps : {1.25e9, 1e15}) {
      Job dense = job_of(overlap, "none");
      dense.cluster.node.nic_Bps = spec(nic_Bps);
      if (nic_Bps > 1e12) dense.cluster.node.nvlink_Bps = spec(nic_Bps);
      Job low_rank = dense;
      low_rank.communication.compressors.dp.name = "powersgd";
      const double gain = run(dense).seconds / run(low_rank).seconds;
      if (nic_Bps < 1e12) {
        EXPECT_GT(gain, 1.5);
      } else {
        EXPECT_LT(gain, 1);
      }
    }
  }
}

double wire_bytes(const Plan& plan) {
  double bytes = 0;
  for (const Task& task : plan.classes.front().tasks) {
    if (task.kind != TaskKind::collective || task.name == "gradient norm") continue;
    bytes += task.bytes * (task.collective == CollectiveKind::all_reduce ? 2 : 1);
  }
  return bytes;
}

// No policy adds bytes. Without latency none is slower than reducing after the backward pass, or
// faster than its kernels or its bytes allow.
TEST(GradientExchange, OverlapMovesTheSameBytesUnderTheKernels) {
  for (const double nic_Bps : {3e9, 12e9, 100e9}) {
    Job job = job_of(GradientOverlap::none, "none");
    job.cluster.node.nic_Bps = spec(nic_Bps);
    const Outcome plain = run(job);
    const double kernels_s = busy_s(plain.plan, Category::forward) +
                             busy_s(plain.plan, Category::backward) +
                             busy_s(plain.plan, Category::optimizer);
    const double bytes_s = busy_s(plain.plan, Category::dp);
    for (const GradientOverlap overlap : kOverlaps) {
      job.communication.overlap = overlap;
      const Outcome outcome = run(job);
      EXPECT_NEAR(wire_bytes(outcome.plan), wire_bytes(plain.plan), 1e-9 * wire_bytes(plain.plan));
      EXPECT_LE(outcome.seconds, 1.001 * plain.seconds) << int(overlap);
      EXPECT_GE(outcome.seconds, 0.999 * kernels_s) << int(overlap);
      // In closed form two concurrent reductions share a link only by the rule of 1.5.
      const double least = overlap == GradientOverlap::asc ? 0.74 : 0.99;
      EXPECT_GE(outcome.seconds, least * bytes_s) << int(overlap);
    }
  }
}

// If gradients arrive in the next iteration, one simulated iteration has the period of many.
TEST(GradientExchange, OneIterationHasThePeriodOfMany) {
  for (const GradientOverlap overlap : {GradientOverlap::priority, GradientOverlap::dear}) {
    for (const double nic_Bps : {3e9, 25e9}) {
      Job job = job_of(overlap, "none");
      job.cluster.node.nic_Bps = spec(nic_Bps);
      const PreparedIteration prepared = prepare_iteration(job);
      const Plan plan = iteration_plan(job, prepared, {.iterations = 4});
      validate_plan(plan);
      const Timeline timeline = evaluate_plan(plan, job.cluster);
      const double period_s =
          (foreground_end_s(plan, timeline, 3) - foreground_end_s(plan, timeline, 1)) / 2;
      EXPECT_NEAR(run(job).seconds, period_s, 1e-9 * period_s);
    }
  }
}

// If the network is the bottleneck, the next forward pass hides what the backward pass cannot.
TEST(GradientExchange, PriorityAndDearUseTheNextForwardPass) {
  Job job = job_of(GradientOverlap::bucketed, "none");
  job.cluster.node.nic_Bps = spec(4e9);
  const double bucketed_s = run(job).seconds;
  for (const GradientOverlap overlap : {GradientOverlap::priority, GradientOverlap::dear}) {
    job.communication.overlap = overlap;
    EXPECT_LT(run(job).seconds, 0.99 * bucketed_s) << int(overlap);
  }
}

// Error feedback keeps the error, 4 B per element of a matrix in fp32 on every rank. PowerSGD also
// keeps the factor that it starts from (Vogels et al. 2019, arXiv 1905.13727, algorithm 1).
TEST(GradientExchange, WhatACompressorKeepsIsInMemory) {
  const auto gradients = [](std::string_view compressor, GradientOverlap overlap) {
    Job job = job_of(overlap, compressor);
    job.precision = Precision::fp32;
    return prepare_iteration(job).memory.front();
  };
  const GpuMemory dense = gradients("none", GradientOverlap::bucketed);
  const GpuMemory low_rank = gradients("powersgd", GradientOverlap::bucketed);
  const GpuMemory random = gradients("randomk", GradientOverlap::bucketed);
  const double state = low_rank.gradients - dense.gradients;
  EXPECT_GT(state, 0.95 * dense.gradients) << "errors of the matrices";
  EXPECT_LT(state, 1.10 * dense.gradients) << "and factors of small rank";
  EXPECT_GE(random.gradients, dense.gradients);
  EXPECT_EQ(low_rank.weights, dense.weights);
  EXPECT_EQ(low_rank.optimizer, dense.optimizer);
  EXPECT_GE(gradients("topk", GradientOverlap::none).buffers,
            gradients("topk", GradientOverlap::bucketed).buffers)
      << "all gradients at once take no less than two buckets";
}

// The time that gradients add to compute, on nodes of four GPUs without latency.
double exposed_s(int nodes, int servers, double nic_Bps, double nvlink_Bps) {
  Job job = job_of(GradientOverlap::none, "none", 1, 1, 4 * nodes);
  job.communication.aggregation = Aggregation::parameter_server;
  job.communication.servers = servers;
  job.cluster.node.nic_Bps = spec(nic_Bps);
  job.cluster.node.nvlink_Bps = spec(nvlink_Bps);
  const Outcome result = run(job);
  EXPECT_EQ(result.refused, "");
  return result.seconds - busy_s(result.plan, Category::forward) -
         busy_s(result.plan, Category::backward) - busy_s(result.plan, Category::optimizer);
}

TEST(GradientExchange, MethodsOnAdamsMomentsNeedAdam) {
  for (const char* name : {"onebit-adam", "onebit-lamb", "zero-one-adam"}) {
    Job job = job_of(GradientOverlap::none, name);
    EXPECT_NO_THROW(check_conflicts(exchange_conflicts(), job)) << name;
    job.software.optimizer = Optimizer::momentum;
    EXPECT_THROW(check_conflicts(exchange_conflicts(), job), Error) << name;
  }
}

// A node sends its gradients, S, once to servers of their own and receives them at the same time,
// for any number of nodes. Servers on the nodes' own hosts take twice S (n - 1)/n; fewer servers
// take proportionally longer (BytePS' best practice).
TEST(ParameterServers, ServersOfTheirOwnKeepUpWithAnyNumberOfNodes) {
  const Job job = job_of(GradientOverlap::none, "none", 1, 1, 8);
  constexpr double kNic_Bps = 1e9;  // for each of four NICs
  const double whole_s = job.model.parameters() * job.software.reduce_bytes / (4 * kNic_Bps);
  for (const int nodes : {2, 4, 8}) {
    EXPECT_NEAR(exposed_s(nodes, nodes, kNic_Bps, 200e9), whole_s, 1e-3 * whole_s) << nodes;
    EXPECT_NEAR(exposed_s(nodes, 2 * nodes, kNic_Bps, 200e9), whole_s, 1e-3 * whole_s) << nodes;
    EXPECT_NEAR(exposed_s(nodes, nodes / 2, kNic_Bps, 200e9), 2 * whole_s, 2e-3 * whole_s);
    EXPECT_NEAR(exposed_s(nodes, 0, kNic_Bps, 200e9), 2 * whole_s * (nodes - 1) / nodes,
                2e-3 * whole_s);
  }
}

// The slower of the stages inside and between nodes decides, and not their sum. PCIe also carries
// the copies to the host: 3/4 S of a ring and 1/4 S of a copy, in both directions.
TEST(ParameterServers, TheSlowerStageDecides) {
  const Job job = job_of(GradientOverlap::none, "none", 1, 1, 8);
  const double bytes = job.model.parameters() * job.software.reduce_bytes;
  const double pcie_Bps = job.cluster.node.pcie_Bps.value;
  EXPECT_NEAR(exposed_s(2, 2, 100e9, 40e9), 1.5 * bytes / 40e9, 0.01 * bytes / 40e9);
  EXPECT_NEAR(exposed_s(2, 2, 100e9, pcie_Bps), 2 * bytes / pcie_Bps, 0.01 * bytes / pcie_Bps);
  EXPECT_NEAR(exposed_s(2, 2, 1e9, pcie_Bps), bytes / 4e9, 0.01 * bytes / 4e9);
}

// Most small partitions share a task, which takes the time and the launches of all of them.
TEST(PriorityOverlap, SmallPartitionsCostTheirLaunchAndNoTasks) {
  Job job = job_of(GradientOverlap::priority, "none", 1, 1, 8);
  job.calibration.collective_launch_s.value = 20e-6;
  const auto timed = [&](double bytes, double launch_s) {
    job.communication.partition_bytes = bytes;
    job.calibration.partition_launch_s.value = launch_s;
    return run(job);
  };
  const Outcome small = timed(1e3, 0);
  EXPECT_LT(small.plan.classes.front().tasks.size(), 4000U);
  const double gradients = job.model.parameters() * job.software.reduce_bytes;
  EXPECT_GT(small.seconds, 20e-6 * gradients / 1e3);
  EXPECT_LT(small.seconds, 30e-6 * gradients / 1e3);
  // If the network is the bottleneck, the step grows with the number of partitions.
  const double longer_s = timed(1e3, 100e-6).seconds - small.seconds;
  EXPECT_NEAR(longer_s, 100e-6 * gradients / 1e3, 0.01 * longer_s);
  // The coarse and the fine form agree where one replaces the other.
  const double edge = gradients / 2000;
  EXPECT_NEAR(timed(0.99 * edge, 1e-6).seconds / timed(1.01 * edge, 1e-6).seconds, 1, 0.05);
}

// A synchronisation every 8 steps costs each step an eighth of its time, including latency.
TEST(GradientExchange, WhatRunsEveryFewStepsCostsItsShare) {
  Job job = job_of(GradientOverlap::none, "zero-one-adam");
  job.calibration.collective_launch_s.value = 5e-3;
  const auto dp_s = [&](double every) {
    job.communication.compressors.dp.every = every;
    double seconds = 0;
    const Outcome outcome = run(job);
    for (const Task& task : outcome.plan.classes.front().tasks) {
      if (task.kind != TaskKind::collective || task.name == "gradient norm") continue;
      seconds += total_seconds(task.cost);
    }
    return seconds;
  };
  EXPECT_NEAR(dp_s(8) / dp_s(1), 1.0 / 8, 1e-9);
}

// DDP's copies read and write 8 B per fp32 element in each direction, on the compute stream.
TEST(GradientExchange, GradientsAreCopiedIntoBucketsAndBack) {
  Job job = job_of(GradientOverlap::bucketed, "none");
  job.precision = Precision::fp32;
  const Outcome views = run(job);
  job.software.bucket_copies = true;
  const Outcome copies = run(job);
  const double expected_s = 16 * job.model.parameters() / job.cluster.node.gpu.memory_Bps.value;
  const double copied_s = busy_s(copies.plan, Category::dp) - busy_s(views.plan, Category::dp);
  EXPECT_NEAR(copied_s, expected_s, 1e-3 * expected_s);
  EXPECT_GT(copies.seconds, views.seconds);
  EXPECT_LT(copies.seconds, views.seconds + 1.01 * expected_s);
  job.communication.overlap = GradientOverlap::wfbp;
  const double tensors_s = run(job).seconds;
  job.software.bucket_copies = false;
  EXPECT_EQ(tensors_s, run(job).seconds) << "tensors that go alone need no buckets";
}

// Sums the bytes of each kind of collective that carries the first rank's gradients.
std::map<CollectiveKind, double> bytes_by_kind(const Plan& plan) {
  std::map<CollectiveKind, double> bytes;
  for (const Task& task : plan.classes.front().tasks) {
    if (task.kind == TaskKind::collective && task.bytes > 8) bytes[task.collective] += task.bytes;
  }
  return bytes;
}

// On two nodes of four each member compresses a quarter of what its node has summed, and exchanges
// it with one peer.
TEST(GradientExchange, CompressesAcrossNodesOnly) {
  Job job = job_of(GradientOverlap::bucketed, "int8");
  const Outcome all = run(job);
  const double dense = bytes_by_kind(
      run(job_of(GradientOverlap::bucketed, "none")).plan)[CollectiveKind::all_reduce];
  job.communication.compressors.dp.hop = CompressedHop::across;
  const Outcome across = run(job);
  ASSERT_EQ(across.refused, "");
  std::map<CollectiveKind, double> flat = bytes_by_kind(all.plan);
  std::map<CollectiveKind, double> split = bytes_by_kind(across.plan);
  EXPECT_NEAR(split[CollectiveKind::reduce_scatter], dense, 1e-6 * dense);
  EXPECT_NEAR(split[CollectiveKind::all_to_all], flat[CollectiveKind::all_to_all] / 4,
              1e-6 * flat[CollectiveKind::all_to_all]);
  EXPECT_NEAR(split[CollectiveKind::all_gather], dense + flat[CollectiveKind::all_gather] / 4,
              1e-6 * dense);
}

// Between islands a flat collective sends every member's part over the long-distance link.
TEST(GradientExchange, OnSitesItCompressesAcrossThemByItself) {
  Job job = job_of(GradientOverlap::bucketed, "int8", 1, 1, 32);
  job.cluster.fabric.topology = Topology::sites;
  job.cluster.fabric.sites = {{.name = "north", .nodes = 4}, {.name = "south", .nodes = 4}};
  job.cluster.fabric.wan_Bps = spec(1e9);
  const double chosen_s = run(job).seconds;
  job.communication.compressors.dp.hop = CompressedHop::across;
  EXPECT_EQ(run(job).seconds, chosen_s);
  job.communication.compressors.dp.hop = CompressedHop::all;
  EXPECT_GT(run(job).seconds, 1.5 * chosen_s);
  job.communication.compressors.dp.name = "none";
  EXPECT_GT(run(job).seconds, chosen_s);
}

TEST(GradientExchange, ShardsAreCompressedBetweenTheirCopies) {
  Job job = job_of(GradientOverlap::bucketed, "int8");
  job.layout.sharding = Sharding::zero2;
  job.layout.shard_ranks = 4;
  job.communication.compressors.dp.hop = CompressedHop::across;
  const Outcome across = run(job);
  ASSERT_EQ(across.refused, "");
  EXPECT_GT(bytes_by_kind(across.plan)[CollectiveKind::all_to_all], 0);
  job.communication.compressors.dp.hop = CompressedHop::automatic;
  EXPECT_EQ(run(job).seconds, across.seconds) << "by itself";
}

// In two slices of four ranks a layer takes ten rounds of 1 ms, however buckets and partitions cut
// it. A micro-batch that sums no copies takes none.
TEST(GradientExchange, SlicesTakeRoundsOnceALayer) {
  Job job = job_of(GradientOverlap::bucketed, "none");
  job.layout.sharding = Sharding::zero2;
  job.layout.shard_ranks = 4;
  job.cluster.fabric.topology = Topology::torus;
  job.cluster.fabric.dimensions = {1, 2};
  job.cluster.fabric.wan_Bps = spec(1e9);
  job.cluster.fabric.wan_latency_s = spec(1e-3);
  const auto rounds_s = [&](double bucket_bytes, double share, StageAction action) {
    const ReplicaNetwork network(job);
    const GradientExchange exchange(job, network);
    const std::vector<StageTensor> tensors =
        stage_tensors(job, 0, 0, job.model.layers, chunk_costs(job)[0]);
    std::vector<Transfer> row;
    for (const GradientBucket& bucket : gradient_buckets(tensors, 4, bucket_bytes)) {
      exchange.append(tensors, bucket, 0, row, share, action);
    }
    double seconds = 0;
    for (const Transfer& transfer : row) {
      for (const CostPart& part : transfer.kernels) seconds += part.seconds;
    }
    return seconds;
  };
  const double all_s = 10e-3 * job.model.layers;
  EXPECT_NEAR(rounds_s(1e12, 1, StageAction::last_backward), all_s, 1e-9);
  EXPECT_NEAR(rounds_s(10e6, 1, StageAction::last_backward), all_s, 1e-9);
  EXPECT_NEAR(rounds_s(0, 1, StageAction::last_backward), all_s, 1e-9) << "a tensor each";
  EXPECT_NEAR(rounds_s(0, 0.25, StageAction::last_backward), all_s / 4, 1e-9);
  EXPECT_EQ(rounds_s(10e6, 1, StageAction::backward), 0);
  job.layout.copies_summed = CopiesSummed::micro_batch;
  EXPECT_NEAR(rounds_s(10e6, 1, StageAction::backward), all_s, 1e-9);
  job.layout.copies_summed = CopiesSummed::step;
  job.layout.shard_ranks = 0;  // shards span both slices
  EXPECT_NEAR(rounds_s(10e6, 1, StageAction::backward), all_s, 1e-9);
  job.training = std::make_shared<const Training>(Training{.method = TrainingMethod::zeroth_order});
  EXPECT_NEAR(rounds_s(1e12, 1, StageAction::last_backward), 10e-3, 1e-9) << "one number";
}

// Buckets sized in elements equal those of as many bytes; larger ones are fewer.
TEST(CompressedReductions, BucketsCountedInElements) {
  Job job = job_of(GradientOverlap::bucketed, "none");
  const Outcome bytes = run(job);
  job.communication.bucket_elements = 10e6 / reduce_bytes_per_parameter(job);
  job.communication.bucket_bytes = 1;
  const Outcome elements = run(job);
  EXPECT_EQ(bytes.seconds, elements.seconds);
  const auto tasks = [](const Outcome& of) { return of.plan.classes[0].tasks.size(); };
  EXPECT_EQ(tasks(bytes), tasks(elements));
  job.communication.bucket_elements_per_replica = job.communication.bucket_elements;
  EXPECT_LT(tasks(run(job)), tasks(elements));
}

}  // namespace
}  // namespace windtunnel

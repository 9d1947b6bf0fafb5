// Jobs with parts beside the GPU, from end to end: the closed form against the engine, and what may
// never be cheaper or lost.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "models/base/random.hpp"
#include "models/cost/memory/tiers.hpp"
#include "models/cost/offload/offload.hpp"
#include "models/results/iteration_report.hpp"
#include "models/results/memory_timeline.hpp"
#include "policies/conflicts/offload_conflicts.hpp"
#include "policies/iteration.hpp"
#include "policies/search/memory_search.hpp"
#include "sim/engine/engine.hpp"
#include "sim/study/iterations/memory_excess.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

template <typename T>
T pick(RandomStream& random, std::initializer_list<T> values) {
  return values.begin()[random.below(values.size())];
}

std::shared_ptr<const Offload> shared(const Offload& offload) {
  return std::make_shared<const Offload>(offload);
}

Job random_job(RandomStream& random) {
  Job job = small_job(pick(random, {1, 2}), pick(random, {1, 1, 2, 4}), pick(random, {1, 2, 4}));
  job.layout.sharding =
      pick(random, {Sharding::zero1, Sharding::zero2, Sharding::zero3, Sharding::zero3});
  job.recompute = pick(random, {Recompute::none, Recompute::selective, Recompute::full});
  job.communication.overlap = pick(random, {GradientOverlap::none, GradientOverlap::bucketed});
  job.schedule.name = pick(random, {"1f1b", "gpipe", "zb-h1"});
  job.cluster.node.pcie_Bps = spec(pick(random, {5e9, 20e9, 60e9, 400e9}));
  job.batch.global = job.layout.dp * (1 + static_cast<int>(random.below(6)));
  return job;
}

Offload random_offload(RandomStream& random) {
  using enum MemoryTier;
  Offload offload;
  offload.optimizer = pick(random, {gpu, host, host, disk});
  offload.gradients = pick(random, {gpu, gpu, host});
  offload.weights = pick(random, {gpu, gpu, host, disk});
  offload.activations = pick(random, {gpu, host, host, disk});
  offload.optimizer_share = pick(random, {1.0, 0.5});
  offload.activation_share = pick(random, {1.0, 0.5});
  offload.delayed = random.below(3) == 0;
  return offload;
}

struct Stepped {
  Plan plan;
  Timeline timeline;
  double step_s = 0;
};

Stepped engine(const Job& job, const PreparedIteration& prepared) {
  Stepped stepped;
  stepped.plan = iteration_plan(job, prepared);
  validate_plan(stepped.plan);
  stepped.timeline =
      execute(stepped.plan, job.cluster, {.fold = job.fold, .calibration = job.calibration});
  stepped.step_s = iteration_s(job, stepped.plan, stepped.timeline);
  return stepped;
}

// With fidelity: closed the Plan's copies take what the closed form says.
TEST(OffloadJobs, TheEngineAgreesWithTheClosedForm) {
  int moved = 0;
  for (std::uint64_t i = 0; i < 500; ++i) {
    RandomStream random(11, RandomPurpose::test, i);
    Job job = random_job(random);
    const Offload offload = random_offload(random);
    if (!why_not(offload, job).empty() || !offload.any()) continue;
    job.offload = shared(offload);
    job.communication.fidelity = Fidelity::closed;
    const PreparedIteration prepared = prepare_iteration(job);
    const double engine_s = engine(job, prepared).step_s;
    const IterationEstimate estimate = estimate_iteration(job, prepared);
    EXPECT_NEAR(estimate.step_s, engine_s, 1e-6 * engine_s) << i;
    EXPECT_NEAR(iteration_step_s(job, prepared), estimate.step_s, 1e-9 * estimate.step_s) << i;
    double parts_s = 0;
    for (const double seconds : estimate.seconds) {
      EXPECT_GE(seconds, -1e-9 * estimate.step_s) << i;
      parts_s += seconds;
    }
    for (const double seconds : estimate.origin_s) {
      EXPECT_GE(seconds, -1e-9 * estimate.step_s) << i;
    }
    EXPECT_NEAR(parts_s, estimate.step_s, 1e-9 * estimate.step_s) << i;
    ++moved;
  }
  EXPECT_GT(moved, 100);
}

// Copies add to what there is, and all that leaves comes back.
TEST(OffloadJobs, NothingIsFree) {
  int moved = 0;
  int alone = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    RandomStream random(12, RandomPurpose::test, i);
    Job job = random_job(random);
    Offload offload = random_offload(random);
    offload.optimizer = offload.gradients = offload.weights = MemoryTier::gpu;
    if (!why_not(offload, job).empty() || !offload.any()) continue;
    const PreparedIteration plain = prepare_iteration(job);
    const double plain_s = engine(job, plain).step_s;
    job.offload = shared(offload);
    const PreparedIteration prepared = prepare_iteration(job);
    const Stepped flows = engine(job, prepared);
    EXPECT_GE(flows.step_s, plain_s * (1 - 1e-9)) << i;
    // One GPU shares its link with nobody; both ways of it may share the host's memory and drives,
    // which the closed form does not know.
    const NodeSpec& node = job.cluster.node;
    if (job.layout.ranks() == 1 && offload.activations == MemoryTier::host &&
        2 * node.pcie_Bps.value <= node.host_memory_Bps.value) {
      const double closed_s = iteration_step_s(job, prepared);
      EXPECT_NEAR(flows.step_s, closed_s, 1e-6 * closed_s) << i;
      ++alone;
    }
    // All that left came back.
    for (const RankTimeline& rank : flows.timeline.ranks) {
      const MemoryTimeline away =
          memory_timeline(flows.plan.classes[rank.rank_class], rank, 0, MemoryPlace::tier);
      ASSERT_FALSE(away.steps.empty());
      EXPECT_NEAR(away.steps.back().alive_bytes, 0, 1e-6 * away.peak_bytes);
      const TierMemory& host = prepared.memory[rank.rank_class].host;
      const TierMemory& disk = prepared.memory[rank.rank_class].disk;
      EXPECT_LE(away.peak_bytes, (host.activations + disk.activations) * (1 + 1e-9)) << i;
    }
    ++moved;
  }
  EXPECT_GT(moved, 60);
  EXPECT_GT(alone, 5);
}

// A wide model computes longer on a layer than the link needs for what it keeps.
TEST(OffloadJobs, WhatFitsIntoIdleTimeOfTheLinkIsHidden) {
  Job job = small_job(1, 1, 1);
  job.model.hidden = 16384;
  job.model.ffn_hidden = 65536;
  job.model.heads = job.model.kv_heads = 128;
  job.model.vocabulary = 1024;
  const double plain_s = engine(job, prepare_iteration(job)).step_s;
  Offload offload;
  offload.activations = MemoryTier::host;
  offload.activation_share = 7.0 / 8;
  job.offload = shared(offload);
  EXPECT_LT(engine(job, prepare_iteration(job)).step_s, 1.005 * plain_s);
}

// What is offloaded to drives and what snapshots keep there share their capacity.
TEST(OffloadJobs, DrivesHaveACapacity) {
  Job job = small_job(1, 1, 4);
  job.layout.sharding = Sharding::zero3;
  Offload offload;
  offload.optimizer = MemoryTier::disk;
  job.offload = shared(offload);
  const PreparedIteration prepared = prepare_iteration(job);
  const double held = tier_of_node(job, prepared.memory, MemoryTier::disk).total();
  EXPECT_NEAR(held, 12 * prepared.chunks.front().parameters, 1);
  Parameter& capacity = job.cluster.node.local_disk_bytes;
  capacity = spec(held);
  EXPECT_EQ(memory_excess(job, prepared), "");
  job.snapshots = {{.place = SnapshotPlace::local_disk, .every_iterations = 10}};
  EXPECT_THAT(memory_excess(job, prepared),
              testing::HasSubstr("offloaded state and snapshots on drives need"));
  capacity = spec(held + 3 * 14 * prepared.chunks.front().parameters);
  EXPECT_EQ(memory_excess(job, prepared), "");
  job.snapshots.clear();
  capacity = spec(0.5 * held);
  EXPECT_THAT(memory_excess(job, prepared), testing::HasSubstr("offloaded state on drives needs"));
}

// 175 billion parameters on four nodes of eight 40 GB GPUs and 1 TB: 18 bytes of a parameter.
TEST(OffloadJobs, PatrickStarsLargestModelFits) {
  Job job = small_job(1, 1, 32);
  job.model.layers = 96;
  job.model.hidden = 12288;
  job.model.heads = job.model.kv_heads = 96;
  job.model.ffn_hidden = 49152;
  job.model.vocabulary = 50257;
  job.cluster = small_cluster(4, 8);
  job.cluster.node.gpu.memory_bytes = spec(40e9);
  job.batch = {32, 1, 1024};
  job.layout.sharding = Sharding::zero3;
  job.recompute = Recompute::full;
  EXPECT_FALSE(gpu_memory_excess(prepare_iteration(job).memory, job).empty());
  Offload offload;
  offload.optimizer = offload.gradients = offload.weights = MemoryTier::host;
  job.offload = shared(offload);
  const std::vector<GpuMemory> memory = prepare_iteration(job).memory;
  EXPECT_EQ(gpu_memory_excess(memory, job), "");
  const double parameters = job.model.parameters();
  EXPECT_NEAR(4 * tier_of_node(job, memory, MemoryTier::host).total(), 18 * parameters,
              0.01 * 18 * parameters);
  EXPECT_LT(tier_of_node(job, memory, MemoryTier::host).total(), 1e12);
}

}  // namespace
}  // namespace windtunnel

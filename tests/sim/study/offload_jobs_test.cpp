// Jobs with offloaded parts run from end to end. The closed form is compared with the engine, and
// no offload may be free or lose bytes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>

#include "models/base/random.hpp"
#include "models/cost/memory/tiers.hpp"
#include "models/cost/offload/host_work.hpp"
#include "models/cost/offload/offload.hpp"
#include "models/results/iteration_report.hpp"
#include "models/results/memory_timeline.hpp"
#include "models/workload/training.hpp"
#include "policies/conflicts/conflict.hpp"
#include "policies/exchange/compressed_reductions.hpp"
#include "policies/iteration.hpp"
#include "policies/search/memory_search.hpp"
#include "sim/engine/engine.hpp"
#include "sim/study/iterations/memory_excess.hpp"
#include "tests/support/pool_job.hpp"
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
  job.communication.overlap = pick(random, {GradientOverlap::none, GradientOverlap::bucketed,
                                            GradientOverlap::dear, GradientOverlap::priority});
  if (crosses_iterations(job.communication.overlap)) job.layout.sharding = Sharding::none;
  job.software.post_validation = random.below(4) == 0;
  job.schedule.name = pick(random, {"1f1b", "gpipe", "zb-h1"});
  job.cluster.node.pcie_Bps = spec(pick(random, {5e9, 20e9, 60e9, 400e9}));
  job.batch.global = job.layout.dp * (1 + static_cast<int>(random.below(6)));
  if (job.layout.sharding == Sharding::zero3 && job.layout.dp == 4) {
    job.layout.secondary_ranks = pick(random, {0, 2});
  }
  if (random.below(4) == 0) {
    auto training = std::make_shared<Training>();
    training->frozen_layers = {true, true, true, false, false, true, false, false};
    training->frozen_embedding = random.below(2) == 0;
    job.training = training;
  }
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
  offload.sections = pick(random, {1, 2, 2, 3});
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

// With fidelity: closed the Plan's copies take as long as the closed form says.
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

// Copies add to the step, and all bytes that leave the GPU come back.
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
    // A single GPU has its link to itself, but both directions may share the host's memory and
    // drives, which the closed form does not model.
    const NodeSpec& node = job.cluster.node;
    if (job.layout.ranks() == 1 && offload.activations == MemoryTier::host &&
        2 * node.pcie_Bps.value <= node.host_memory_Bps.value) {
      const double closed_s = iteration_step_s(job, prepared);
      EXPECT_NEAR(flows.step_s, closed_s, 1e-6 * closed_s) << i;
      ++alone;
    }
    // All bytes that left have come back.
    for (const RankTimeline& rank : flows.timeline.ranks) {
      const MemoryTimeline away =
          memory_timeline(flows.plan.classes[rank.rank_class], rank, 0, MemoryPlace::tier);
      const TierMemory& host = prepared.memory[rank.rank_class].host;
      const TierMemory& disk = prepared.memory[rank.rank_class].disk;
      const double held = host.activations + disk.activations;
      EXPECT_EQ(away.steps.empty(), held == 0) << i;  // an untrained stage offloads nothing
      if (away.steps.empty()) continue;
      EXPECT_NEAR(away.steps.back().alive_bytes, 0, 1e-6 * away.peak_bytes);
      EXPECT_LE(away.peak_bytes, held * (1 + 1e-9)) << i;
    }
    ++moved;
  }
  EXPECT_GT(moved, 60);
  EXPECT_GT(alone, 5);
}

// A wide model computes longer on a layer than the link needs for its activations.
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

// Layers offload their own activations: layers that are not trained keep less, or nothing.
TEST(OffloadJobs, FrozenLayersKeepWhatTheyKeep) {
  Job job = small_job(1, 1, 1);
  auto training = std::make_shared<Training>();
  training->frozen_embedding = true;
  training->frozen_layers = {true, true, false, false, true, false, false, false};
  job.training = training;
  const double kept = chunk_costs(job).front().activation_bytes;
  Offload offload;
  offload.activations = MemoryTier::host;
  job.offload = shared(offload);
  const ChunkCost chunk = chunk_costs(job).front();
  ASSERT_EQ(chunk.offloaded_of_layers.size(), 8U);
  EXPECT_NEAR(chunk.activation_bytes + chunk.offloaded_bytes, kept, 1);
  EXPECT_EQ(chunk.offloaded_of_layers[0], 0);  // it has no backward pass
  EXPECT_GT(chunk.offloaded_of_layers[4], 0);
  EXPECT_LT(chunk.offloaded_of_layers[4], chunk.offloaded_of_layers[5]);
}

// Backward passes gather weights from the second copy, which stays on the GPUs.
TEST(OffloadJobs, UnderASecondCopyWeightsComeForForwardPassesAlone) {
  Job job = small_job(1, 1, 4);
  job.layout.sharding = Sharding::zero3;
  Offload offload;
  offload.optimizer = offload.gradients = offload.weights = MemoryTier::host;
  job.offload = shared(offload);
  const auto fetched = [&] {
    double bytes = 0;
    const Plan plan = iteration_plan(job, prepare_iteration(job));
    for (const Task& task : plan.classes.front().tasks) {
      if (task.name.starts_with("fetch weights")) bytes += task.bytes;
    }
    return bytes;
  };
  const double plain = fetched();
  const GpuMemory without = prepare_iteration(job).memory.front();
  job.layout.secondary_ranks = 2;
  EXPECT_NEAR(fetched(), plain / 2, 1);
  const GpuMemory with = prepare_iteration(job).memory.front();
  EXPECT_EQ(with.host.weights, without.host.weights);
  EXPECT_NEAR(with.weights - without.weights,
              2 * prepare_iteration(job).chunks.front().parameters / 2, 1);
}

// Offloaded state and snapshots share the capacity of drives.
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

// 175 billion parameters of 18 bytes each fit on four nodes with eight 40 GB GPUs and 1 TB each.
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

// ---- activations that are offloaded as far as that costs no time, as in ByteScale ----

// Computation grows with the square of the sequence length, bytes grow linearly.
Job long_job(int sequence) {
  Job job = small_job(1, 1, 1);
  job.model.layers = 16;
  job.model.sequence = sequence;
  job.model.vocabulary = 1024;
  job.batch = {1, 1, sequence};
  job.recompute = Recompute::none;
  job.cluster.node.gpu.memory_bytes = spec(1e13);
  return job;
}

Job hidden(Job job) {
  auto offload = std::make_shared<Offload>();
  offload->activations = MemoryTier::host;
  offload->hidden = true;
  job.offload = offload;
  return with_memory_found(job);
}

double share_of(const Job& job) {
  const Offload& offload = offload_of(job);
  return offload.activations == MemoryTier::gpu ? 0 : offload.activation_share;
}

// The share is r = min(1, seconds of a layer's forward pass x PCIe bandwidth / bytes that the layer
// keeps).
double share_by_formula(const Job& job) {
  const PreparedIteration prepared = prepare_iteration(job);
  double forward_s = 0;
  for (const CostPart& part : prepared.chunks.front().forward) forward_s += part.seconds;
  return std::min(
      1.0, forward_s * job.cluster.node.pcie_Bps.value / prepared.chunks.front().activation_bytes);
}

TEST(HiddenJobs, TheLongerTheSequenceTheMoreLeavesFreeOfCharge) {
  double before = 0;
  bool some = false;
  bool all = false;
  for (int sequence = 1024; sequence <= 256 * 1024; sequence *= 2) {
    const Job plain = long_job(sequence);
    const Job job = hidden(plain);
    const double share = share_of(job);
    EXPECT_GE(share, before) << sequence;
    EXPECT_NEAR(share, share_by_formula(plain), 0.05) << sequence;
    const double plain_s = engine(plain, prepare_iteration(plain)).step_s;
    const double step_s = engine(job, prepare_iteration(job)).step_s;
    EXPECT_GE(step_s, plain_s * (1 - 1e-9)) << sequence;
    EXPECT_LE(step_s, plain_s * 1.011) << sequence;
    some |= share > 0 && share < 1;
    all |= share == 1;
    EXPECT_TRUE(!all || share == 1) << sequence;
    before = share;
  }
  EXPECT_TRUE(some);
  EXPECT_TRUE(all);
}

// Offloaded activations are not on the GPU, except those of the last layer and those in transit.
TEST(HiddenJobs, FreesTheirMemory) {
  const Job plain = long_job(256 * 1024);
  const Job job = hidden(plain);
  const GpuMemory before = prepare_iteration(plain).memory.front();
  const GpuMemory after = prepare_iteration(job).memory.front();
  EXPECT_NEAR(after.activations, before.activations / 16, 0.02 * before.activations);
  EXPECT_NEAR(after.activations + after.host.activations, before.activations, 1);
  EXPECT_LT(after.total(), 0.5 * before.total());
}

// A link of half the bandwidth hides half as much.
TEST(HiddenJobs, FollowsTheLink) {
  Job job = long_job(8 * 1024);
  const double share = share_of(hidden(job));
  job.cluster.node.pcie_Bps.value /= 2;
  EXPECT_NEAR(share_of(hidden(job)), share / 2, 0.04);
}

// Sums the bytes per iteration of the tasks of a class whose names start with `begin`.
double bytes_of_tasks(const Plan& plan, int rank_class, std::string_view begin) {
  double bytes = 0;
  for (const Task& task : plan.classes[rank_class].tasks) {
    if (task.name.starts_with(begin)) bytes += task.bytes;
  }
  return bytes / plan.iterations;
}

// Gradients that are reduced during the next step leave then, layer by layer, and the new weights
// come back before the layer that uses them. This moves as many bytes as if they left after the
// backward pass.
TEST(OffloadJobs, GradientsThatArriveInTheNextStepLeaveThen) {
  for (const GradientOverlap overlap : {GradientOverlap::dear, GradientOverlap::priority}) {
    Job job = small_job(1, 1, 4);
    job.layout.sharding = Sharding::none;
    Offload offload;
    offload.optimizer = MemoryTier::host;
    job.offload = shared(offload);
    const double parameters = prepare_iteration(job).chunks.front().parameters;
    job.communication.overlap = overlap;
    const Stepped crossing = engine(job, prepare_iteration(job));
    EXPECT_NEAR(bytes_of_tasks(crossing.plan, 0, "evict gradients"),
                parameters * job.software.reduce_bytes, 1);
    EXPECT_NEAR(bytes_of_tasks(crossing.plan, 0, "new weights"), 2 * parameters, 1);
    // A layer's forward pass waits for its weights, and these wait for its gradients.
    const std::vector<Task>& tasks = crossing.plan.classes.front().tasks;
    const auto spans = crossing.timeline.ranks.front().spans;
    int waited = 0;
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      if (tasks[t].category != Category::forward) continue;
      for (const TaskIndex before : tasks[t].after) {
        if (!tasks[before].name.starts_with("new weights")) continue;
        EXPECT_LE(spans[before].end_s, spans[t].start_s * (1 + 1e-12));
        ++waited;
      }
    }
    EXPECT_GT(waited, 4);
    // The GPU updates only its own part of the optimizer state.
    offload.optimizer_share = 0.25;
    job.offload = shared(offload);
    const Stepped quarter = engine(job, prepare_iteration(job));
    EXPECT_NEAR(bytes_of_tasks(quarter.plan, 0, "new weights"), 2 * parameters / 4, 1);
    EXPECT_LT(quarter.step_s, crossing.step_s);
  }
}

// Each rank steps when its gradients have arrived: no more bytes move, and no rank waits longer.
TEST(OffloadJobs, StepsThatAreValidatedAfterwardsMoveAsMuch) {
  Job job = small_job(1, 4, 2);
  job.schedule.name = "zb-h1";
  job.layout.sharding = Sharding::zero1;
  Offload offload;
  offload.optimizer = MemoryTier::host;
  job.offload = shared(offload);
  const Stepped flushed = engine(job, prepare_iteration(job));
  job.software.post_validation = true;
  const Stepped after = engine(job, prepare_iteration(job));
  for (int rank = 0; rank < 4; ++rank) {
    for (const char* name : {"evict gradients", "new weights"}) {
      EXPECT_NEAR(bytes_of_tasks(after.plan, rank, name), bytes_of_tasks(flushed.plan, rank, name),
                  1)
          << rank << name;
    }
  }
  EXPECT_LE(after.step_s, flushed.step_s * (1 + 1e-9));
}

// Slices keep on the GPU the keys and values that later slices read; all else leaves.
TEST(OffloadJobs, SlicesLeaveButForKeysAndValues) {
  Job job = small_job(1, 2, 1);
  Offload offload;
  offload.activations = MemoryTier::host;
  job.offload = shared(offload);
  job.batch.global = 4 * job.batch.micro;
  const Stepped whole = engine(job, prepare_iteration(job));
  job.schedule.name = "seq1f1b";
  job.schedule.slices = 4;
  const Stepped slices = engine(job, prepare_iteration(job));
  const int layers = job.model.layers / 2;
  const double keys_and_values =
      4.0 * layers * 2 * 2 * job.batch.micro * job.batch.sequence * job.model.kv_width();
  for (int rank = 0; rank < 2; ++rank) {
    const double left = bytes_of_tasks(slices.plan, rank, "evict activations");
    EXPECT_NEAR(left, bytes_of_tasks(whole.plan, rank, "evict activations") - keys_and_values,
                1e-6 * left);
    EXPECT_NEAR(bytes_of_tasks(slices.plan, rank, "fetch activations"), left, 1e-6 * left);
  }
}

// Two pools with the same node count as one kind; on unlike nodes a copy is as fast as its own
// node's link.
TEST(OffloadJobs, EachPoolCopiesOverItsOwnLinks) {
  Offload offload;
  offload.optimizer = MemoryTier::host;
  Job job = pool_job(PoolAxis::dp);
  job.layout.sharding = Sharding::zero1;
  job.communication.fidelity = Fidelity::closed;
  job.offload = shared(offload);
  const PreparedIteration unlike = prepare_iteration(job);
  const Plan plan = iteration_plan(job, unlike);
  ASSERT_EQ(plan.classes.size(), 4U);
  std::array<double, 2> of_pool{};  // seconds of all copies
  for (const int pool : {0, 1}) {
    for (const Task& task : plan.classes[pool].tasks) {
      if (!task.name.starts_with("evict gradients")) continue;
      const HostWork work = copy_work(on_pool(job, pool), CopyWay::to_host, task.bytes, 0, false);
      EXPECT_DOUBLE_EQ(total_seconds(task.cost), work.seconds);
      of_pool[pool] += work.seconds;
    }
  }
  EXPECT_GT(of_pool[1], 1.3 * of_pool[0]);
  EXPECT_NEAR(engine(job, unlike).step_s, iteration_step_s(job, unlike),
              0.02 * iteration_step_s(job, unlike));
  for (Pool& pool : job.cluster.pools) pool.node = job.cluster.pools[0].node;
  job.cluster.node = job.cluster.shared = shared_node(job.cluster.pools);
  Job one = job;
  one.cluster.pools.clear();
  one.pool_calibrations.clear();
  const PreparedIteration of_pools = prepare_iteration(job);
  const PreparedIteration of_one = prepare_iteration(one);
  EXPECT_DOUBLE_EQ(iteration_step_s(job, of_pools), iteration_step_s(one, of_one));
  EXPECT_DOUBLE_EQ(engine(job, of_pools).step_s, engine(one, of_one).step_s);
  EXPECT_EQ(of_pools.memory.front().host.total(), of_one.memory.front().host.total());
}

// If a pool's host is too small, the refusal names that pool.
TEST(OffloadJobs, EachPoolHasRoomOfItsOwn) {
  Offload offload;
  offload.optimizer = offload.gradients = MemoryTier::host;
  Job job = pool_job(PoolAxis::dp);
  job.layout.sharding = Sharding::zero2;
  job.offload = shared(offload);
  EXPECT_EQ(memory_excess(job, prepare_iteration(job)), "");
  job.cluster.pools[1].node.host_memory_bytes = spec(1e6);
  EXPECT_THAT(memory_excess(job, prepare_iteration(job)), testing::HasSubstr("pool 'old'"));
}

}  // namespace
}  // namespace windtunnel
